// The command `nmb-hdf5 serve`: does each request of a socket in a process of its own, which has
// the HDF5 library already (hdf5/client/hdf5_server.h).
#pragma once

#include <functional>
#include <span>

namespace nmb::hdf5 {

// socket: of packets, until its other end is closed. run: does what a command's words say and
// returns the exit code. Returns that of the server.
int serve(int socket, const std::function<int(std::span<char*>)>& run);

}  // namespace nmb::hdf5
