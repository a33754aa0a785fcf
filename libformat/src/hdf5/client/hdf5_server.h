// Hdf5Server: a running `nmb-hdf5 serve`, which does what it is asked for in a new process each
// time, a copy of itself: starting the program and loading the HDF5 library takes longer than
// reading a small file.
#pragma once

#include <sys/types.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nmb/status.h"

namespace nmb::hdf5 {

// What a request begins with; then come the working directory and the arguments, each with a zero
// byte behind it, and with them one or two descriptors.
struct ServerRequest {
  std::uint32_t version = 2;
  std::uint32_t has_shared = 0;  // the second becomes kShared
};
inline constexpr std::size_t kMostRequest = 128 << 10;
// The number under which the process has the descriptor that it is given.
inline constexpr int kShared = 3;

// Of one request after the other. Not thread-safe.
class Hdf5Server {
 public:
  // One that nobody uses, or a new one. Thread-safe. kUnsupported: there is no such program; kIo.
  static Result<std::unique_ptr<Hdf5Server>> take();
  // For the next who takes one; its last request is done. Thread-safe.
  static void give_back(std::unique_ptr<Hdf5Server> server);

  // Ends it, and what it does.
  ~Hdf5Server();
  Hdf5Server(const Hdf5Server&) = delete;
  Hdf5Server& operator=(const Hdf5Server&) = delete;

  // output: what the process tells goes there. shared: a descriptor for it, or -1. The caller may
  // close both. kIo; kLimit: arguments of more than 128 KiB.
  Status ask(const std::vector<std::string>& arguments, int output, int shared);
  // How the process ended, as waitpid has it. kIo: so did the server.
  Result<int> answer();

 private:
  Hdf5Server(std::string program, int socket, pid_t id);
  static Result<std::unique_ptr<Hdf5Server>> start(const std::string& program);
  bool is_ours() const;

  const std::string program_;
  const int socket_;
  const pid_t id_, owner_;
};

}  // namespace nmb::hdf5
