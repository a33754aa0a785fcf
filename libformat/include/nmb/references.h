// Files that an input refers to, which no output may replace.
#pragma once

#include <memory>
#include <string>

#include "nmb/byte_source.h"
#include "nmb/dataset.h"
#include "nmb/export.h"
#include "nmb/output_set.h"
#include "nmb/reader.h"
#include "nmb/status.h"

namespace nmb {

// The functions follow references at any depth, and compare outputs that do not exist yet by folder
// and name: virtual data sets and external links of a file that is referred to are looked for in
// the folder of that file. Each file is read once for an OutputSet. A file that is damaged or
// cannot be opened is passed over. At most 65,536 files are read, for about 5 minutes; beyond that,
// and where this version does not read a file, nobody can tell whether an output is one that is
// referred to: kUsage where an output exists, which would be replaced. Thread-safe.

// kUsage: an output is a file that the NMB file refers to: a file of its file table, whatever
// ReadOptions::external allows, or one that a block from HDF5 leads to. Reads the metadata of all
// such blocks. Else what Reader fails with.
NMB_EXPORT Status check_references(const OutputSet& outputs, const Reader& reader);

// kUsage: an output is a file of the file table. kDamaged, kIo.
NMB_EXPORT Status check_file_table(const OutputSet& outputs, const Reader& reader);

// kUsage: an output is a file that a dataset from HDF5 leads to: raw data of external data sets,
// sources of virtual data sets, targets of external links. `file` is the path of the file that has
// the dataset. A name is looked for in the folder of `file`, in the current folder, and where the
// environment variables of the HDF5 library say. kDamaged.
NMB_EXPORT Status check_references(const OutputSet& outputs, const Dataset& dataset,
                                   const std::string& file);

// The same for all that an NMB or HDF5 file has, which is read for this check alone; other kinds
// refer to nothing. Else what reading `file` fails with.
NMB_EXPORT Status check_references(const OutputSet& outputs,
                                   const std::shared_ptr<const ByteSource>& file);

}  // namespace nmb
