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

// kUsage: an output is a file that the NMB file refers to: a file of its file table, whatever
// ReadOptions::external allows, or one that a block from HDF5 names. Reads the metadata of all such
// blocks. Else what Reader fails with.
NMB_EXPORT Status check_references(const OutputSet& outputs, const Reader& reader);

// kUsage: an output is a file of the file table. kDamaged, kIo.
NMB_EXPORT Status check_file_table(const OutputSet& outputs, const Reader& reader);

// kUsage: an output is a file that a dataset from HDF5 names: raw data of external data sets,
// sources of virtual data sets, targets of external links. `file` is the path of the file that has
// the dataset. A name is looked for in the folder of `file`, in the current folder, and where the
// environment variables of the HDF5 library say. kDamaged.
NMB_EXPORT Status check_references(const OutputSet& outputs, const Dataset& dataset,
                                   const std::string& file);

// The same for all that an NMB or HDF5 file has, which is read for this check alone; other kinds
// refer to nothing. nested: also for files that sources of virtual data sets refer to; a source
// that cannot be read is passed over. Else what reading `file` fails with.
NMB_EXPORT Status check_references(const OutputSet& outputs,
                                   const std::shared_ptr<const ByteSource>& file, bool nested);

}  // namespace nmb
