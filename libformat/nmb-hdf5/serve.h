// The command `nmb-hdf5 serve`: for each request from a socket, starts a process in which the HDF5
// library is already loaded (base/server/hdf5_server.h).
#pragma once

#include <functional>
#include <span>

namespace nmb::hdf5 {

// Serves requests from `socket`, a packet socket, until its other end is closed. `run` executes a
// command line and returns its exit code. Returns the exit code of the server.
int serve(int socket, const std::function<int(std::span<char*>)>& run);

}  // namespace nmb::hdf5
