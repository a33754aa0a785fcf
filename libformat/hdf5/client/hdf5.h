// open_hdf5: opens an HDF5 or netCDF-4 file, and returns the blocks that pack() would make from
// this file (docs/reference/hdf5.md).
#pragma once

#include <memory>
#include <vector>

#include "client/hdf5_file.h"
#include "reader/file_reader.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// Returns one block for each group, in ascending order of names (by bytes). A block's name is the
// group's path without the leading '/'. All metadata is loaded into memory. Values are read on
// demand from `file`, or from a temporary file if they have variable length. The blocks keep `file`
// and the temporary file open. In the block entries, the body kind is 6, and the positions are 0.
// Lengths, counts and the number of samples are those that pack() sets by default. The name of
// `file` must be the path of the file, because a separate process, nmb-hdf5, opens it. Errors:
// kDamaged if HDF5 cannot read the file; kUnsupported if a block cannot represent something in the
// file, or if nmb-hdf5 is missing; kNotFound if a file or data set with values to be copied is
// missing; kLimit if time, memory or temporary space is exhausted; kIo. The memory limit for all
// metadata is 1 GiB plus 4 times the file's size. other_files: whether the values of external and
// virtual data sets are copied to the temporary file at once.
NMB_EXPORT Result<std::vector<std::shared_ptr<const LoadedBlock>>> open_hdf5(
    std::shared_ptr<const ByteSource> file, hdf5::OtherFiles other_files = hdf5::OtherFiles::kLeft);

}  // namespace nmb
