// Hdf5Server: a running `nmb-hdf5 serve`, which handles each request in a new process, a fork of
// itself: starting the program and loading the HDF5 library takes longer than reading a small file.
#pragma once

#include <sys/types.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nmb/status.h"

namespace nmb::hdf5 {

// The beginning of a request. The working directory and the arguments follow, each with a zero byte
// after it; one or two descriptors are sent with them.
struct ServerRequest {
  std::uint32_t version = 2;
  std::uint32_t has_shared = 0;  // the second descriptor becomes kShared
};
inline constexpr std::size_t kMostRequest = 128 << 10;
// The number of the shared descriptor in the process.
inline constexpr int kShared = 3;

// Handles one request after another. Not thread-safe.
class Hdf5Server {
 public:
  // Returns a server that nobody uses, or a new one. Thread-safe. Errors: kUnsupported if the
  // program is not installed; kIo.
  static Result<std::unique_ptr<Hdf5Server>> take();
  // Returns the server to those that take() may give out; its last request must be done.
  // Thread-safe.
  static void give_back(std::unique_ptr<Hdf5Server> server);

  // Ends the server and the process that handles its request.
  ~Hdf5Server();
  Hdf5Server(const Hdf5Server&) = delete;
  Hdf5Server& operator=(const Hdf5Server&) = delete;

  // output: a descriptor for the messages of the process. shared: a descriptor to give to the
  // process, or -1. The caller may close both afterwards. Errors: kIo; kLimit for arguments of more
  // than 128 KiB.
  Status ask(const std::vector<std::string>& arguments, int output, int shared);
  // Returns how the process ended, as the status of waitpid. Errors: kIo if the server ended, too.
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
