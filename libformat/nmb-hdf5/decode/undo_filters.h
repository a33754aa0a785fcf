// Runs the command `nmb-hdf5 decode`: undoes filters of chunks, one request after another.
#pragma once

namespace nmb::hdf5 {

// Answers requests (base/server/hdf5_filters.h) from standard output, which is a socket, until its
// other end is closed. Returns the exit code.
int undo_filters();

}  // namespace nmb::hdf5
