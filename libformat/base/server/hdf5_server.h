// Hdf5Server is a running `nmb-hdf5 serve`. The server handles each request in a new process, which
// is a fork of itself. This saves time, because starting the program and loading the HDF5 library
// takes longer than reading a small file.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/message_fields.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// A request. One or two file descriptors are sent with it; the second one becomes kShared.
struct ServerRequest {
  std::uint32_t version = kVersion;
  std::string folder;  // the working directory
  std::vector<std::string> arguments;

  static constexpr std::uint32_t kVersion = 3;
};

template <class Fields>
void fields(Fields& all, ServerRequest& request) {
  all(request.version, request.folder, request.arguments);
}

inline constexpr std::size_t kMostRequest = 128 << 10;
// The number that the shared descriptor has in the new process.
inline constexpr int kShared = 3;

// Returns whether the other end of a socket that nothing was sent to is closed.
bool has_closed(int socket);

// Handles one request after another. Not thread-safe.
class Hdf5Server {
 public:
  // Returns an idle server, or a new one if there is none. Thread-safe. Errors: kUnsupported if the
  // program is not installed; kIo.
  static Result<std::unique_ptr<Hdf5Server>> take();
  // Makes a server idle, so that take() may return it again. The server's last request must be
  // finished. Thread-safe.
  static void give_back(std::unique_ptr<Hdf5Server> server);

  // Makes all later servers forks of this process, which must be a server itself. A fork calls
  // serve(socket) and ends with the exit code that serve() returns. A fork is faster than the start
  // of the program. Not thread-safe.
  NMB_EXPORT static void start_by_fork(std::function<int(int socket)> serve);

  // Ends the server and the process that handles the server's request.
  ~Hdf5Server();
  Hdf5Server(const Hdf5Server&) = delete;
  Hdf5Server& operator=(const Hdf5Server&) = delete;

  // Sends a request. The new process writes its messages to the descriptor `output`, and gets the
  // descriptor `shared` unless this is -1. The caller may close both descriptors after the call.
  // Errors: kIo; kLimit for arguments of more than 128 KiB; those of ended_early().
  Status ask(const std::vector<std::string>& arguments, int output, int shared);
  // Waits until the process ends and returns its status, as waitpid gives it. Errors: kIo; those of
  // ended_early() if the server ended too.
  Result<int> answer();

  // Returns the failure of a process or server that ended by itself. The code is kLimit if the
  // memory of this process is limited, which is then the likely reason, and otherwise `code`.
  static Status ended_early(Code code, std::string text);
  // Returns the failure of a process that a signal ended, or ok if `status`, which is the result of
  // answer(), says otherwise. `work` is what the process worked on: "file" or "chunk".
  static Status ended_by_signal(int status, std::string_view work);

  // Returns whether this process started the server. If false, the destructor does not end it.
  bool is_ours() const;

 private:
  Hdf5Server(std::string program, int socket, pid_t id);
  static Result<std::unique_ptr<Hdf5Server>> start(const std::string& program);

  const std::string program_;
  const int socket_;
  const pid_t id_, owner_;
};

}  // namespace nmb::hdf5
