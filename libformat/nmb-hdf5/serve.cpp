#include "serve.h"

#include <fcntl.h>
#include <hdf5.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "server/hdf5_server.h"

namespace nmb::hdf5 {

namespace {

struct Request {
  ServerRequest what;
  int output = -1, shared = -1;
};

// Receives a request. Returns false after the last request. bytes: a buffer for kMostRequest bytes.
bool receive(int socket, std::span<std::byte> bytes, Request* request) {
  int descriptors[2] = {-1, -1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptors)];
  iovec content{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  while ((got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  if (got < 0) return false;
  const cmsghdr* const passed = CMSG_FIRSTHDR(&message);
  if (!passed || passed->cmsg_type != SCM_RIGHTS) return false;
  std::memcpy(descriptors, CMSG_DATA(passed), passed->cmsg_len - CMSG_LEN(0));
  request->output = descriptors[0];
  request->shared = descriptors[1];
  return take_fields(bytes.first(static_cast<std::size_t>(got)), &request->what).ok() &&
         request->what.version == ServerRequest::kVersion;
}

// hangup: the handler of SIGHUP that the client had. nohup lets its program ignore the signal.
[[noreturn]] void work(Request& request, pid_t server, sighandler_t hangup,
                       const std::function<int(std::span<char*>)>& run) {
  // This process must end when the server ends, because the client kills the server to stop this
  // process.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != server) _exit(2);
  signal(SIGINT, SIG_DFL);
  signal(SIGHUP, hangup);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  // Use a descriptor above kShared.
  const int output = fcntl(request.output, F_DUPFD_CLOEXEC, kShared + 1);
  if (nothing < 0 || output < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
      (request.shared >= 0 && request.shared != kShared && dup2(request.shared, kShared) < 0) ||
      dup2(output, STDOUT_FILENO) < 0 || dup2(nothing, STDERR_FILENO) < 0 ||
      chdir(request.what.folder.c_str()) != 0)
    _exit(2);
  close(output);
  std::vector<char*> words;
  for (std::string& argument : request.what.arguments) words.push_back(argument.data());
  const int code = run(words);
  std::fflush(nullptr);
  _exit(code);  // closing the objects of HDF5 would take time and is not needed
}

}  // namespace

namespace {

// Returns whether the client ended. The file that it asked for must then not be made, because the
// next run may already have removed what the client left behind.
bool hung_up(int socket) {
  pollfd client{socket, 0, 0};
  return poll(&client, 1, 0) > 0 && (client.revents & (POLLHUP | POLLERR)) != 0;
}

// Waits until a child ends. Returns false if the client ends first.
bool wait_for(pid_t child, int socket, int* status) {
  const int ended = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  if (ended >= 0) {
    pollfd both[] = {{ended, POLLIN, 0}, {socket, 0, 0}};
    while (poll(both, 2, -1) < 0 && errno == EINTR) {
    }
    close(ended);
    if (both[0].revents == 0 && (both[1].revents & (POLLHUP | POLLERR)) != 0) {
      kill(child, SIGKILL);
      return false;
    }
  }
  while (waitpid(child, status, 0) < 0 && errno == EINTR) {
  }
  return true;
}

}  // namespace

int serve(int socket, const std::function<int(std::span<char*>)>& run) {
  // Close descriptors that were inherited from the client.
  close_range(STDERR_FILENO + 1, ~0u, 0);
  signal(SIGINT, SIG_IGN);
  const sighandler_t before = signal(SIGHUP, SIG_IGN);
  const sighandler_t hangup = before == SIG_IGN ? SIG_IGN : SIG_DFL;
  H5open();
  std::vector<std::byte> bytes(kMostRequest);
  const pid_t server = getpid();
  for (;;) {
    Request request;
    if (!receive(socket, bytes, &request) || hung_up(socket)) return 0;
    const pid_t child = fork();
    if (child == 0) work(request, server, hangup, run);
    close(request.output);
    if (request.shared >= 0) close(request.shared);
    int status = 2 << 8;  // wait status of a process with exit code 2
    // The child ends with this process.
    if (child > 0 && !wait_for(child, socket, &status)) return 0;
    if (send(socket, &status, sizeof status, MSG_NOSIGNAL) < 0) return 0;
  }
}

}  // namespace nmb::hdf5
