// The command `nmb-hdf5 import FILE SPOOL`: tells the groups of an HDF5 file as blocks, and where
// their values lie (interop/hdf5_stream.h).
#pragma once

#include <string>

namespace nmb::hdf5 {

// spool: the number of an open file descriptor. Returns the exit code: 0, or 1 after a message of
// failure.
int import_file(const std::string& path, int spool);

}  // namespace nmb::hdf5
