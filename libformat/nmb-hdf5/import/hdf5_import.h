// The commands `nmb-hdf5 import FILE SPOOL PLACE` and `materialise FILE SPOOL PLACE` send the
// groups of an HDF5 file as blocks, each with the positions of its values
// (base/server/hdf5_stream.h).
#pragma once

#include <string>

#include "client/hdf5_file.h"

namespace nmb::hdf5 {

// Sends the groups of the file at `path` to the program that started this process. `spool` is the
// number of an open file descriptor. `place` is the name of the block that the root group becomes;
// paths of references, hard links and named datatypes begin with this name. Returns the exit code:
// 0, or 1 if a failure was sent.
int import_file(const std::string& path, int spool, const std::string& place,
                OtherFiles other_files);

}  // namespace nmb::hdf5
