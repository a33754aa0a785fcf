// The commands `nmb-hdf5 import FILE SPOOL PLACE` and `materialise FILE SPOOL PLACE`: send the
// groups of an HDF5 file as blocks, and where their values lie (hdf5/client/hdf5_stream.h).
#pragma once

#include <string>

#include "hdf5/client/hdf5_file.h"

namespace nmb::hdf5 {

// spool: the number of an open file descriptor. place: the name of the block that the root group
// becomes; paths of references, hard links and named datatypes begin with it. Returns the exit
// code: 0, or 1 after a message of failure.
int import_file(const std::string& path, int spool, const std::string& place,
                OtherFiles other_files);

}  // namespace nmb::hdf5
