#include "server/hdf5_server.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <utility>
#include <vector>

#include "files/plugin_folders.h"
#include "wire/joined_text.h"
#include "wire/system_error.h"

namespace nmb::hdf5 {

namespace {

namespace fs = std::filesystem;

Result<std::string> find_program() {
  std::string looked;
  for (const fs::path& folder : plugin_folders()) {
    const fs::path file = folder / "nmb-hdf5";
    std::error_code error;
    if (fs::exists(file, error)) return file.string();
    looked += (looked.empty() ? "" : ", ") + file.string();
  }
  return Status(Code::kUnsupported,
                "found no program for HDF5, expected " +
                    (looked.empty() ? "a folder in NMB_PLUGIN_PATH" : "one of " + looked));
}

struct Idle {
  std::mutex mutex;
  std::vector<std::unique_ptr<Hdf5Server>> servers;
};

// A process that another thread of its parent forked can lock the mutex too.
Idle& idle() {
  static Idle* const all = [] {
    static Idle made;
    pthread_atfork([] { idle().mutex.lock(); }, [] { idle().mutex.unlock(); },
                   [] { idle().mutex.unlock(); });
    return &made;
  }();
  return *all;
}

// Set in a process that is a server itself.
std::function<int(int socket)>& serve_in_fork() {
  static std::function<int(int)> serve;
  return serve;
}

// Starts a server as a fork of this process. Returns -1 on failure.
pid_t fork_server(int socket) {
  const pid_t id = fork();
  if (id != 0) return id;
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing < 0 || dup2(socket, STDIN_FILENO) < 0 || dup2(nothing, STDOUT_FILENO) < 0 ||
      dup2(nothing, STDERR_FILENO) < 0)
    _exit(2);
  _exit(serve_in_fork()(STDIN_FILENO));
}

}  // namespace

void Hdf5Server::start_by_fork(std::function<int(int socket)> serve) {
  serve_in_fork() = std::move(serve);
}

Hdf5Server::Hdf5Server(std::string program, int socket, pid_t id)
    : program_(std::move(program)), socket_(socket), id_(id), owner_(getpid()) {}

bool Hdf5Server::is_ours() const { return owner_ == getpid(); }

Hdf5Server::~Hdf5Server() {
  close(socket_);
  if (!is_ours()) return;
  kill(id_, SIGKILL);
  while (waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool has_closed(int socket) {
  char next;
  const ssize_t got = recv(socket, &next, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

Result<std::unique_ptr<Hdf5Server>> Hdf5Server::take() {
  NMB_ASSIGN(const std::string program, find_program());
  {
    std::lock_guard lock(idle().mutex);
    auto& servers = idle().servers;
    std::erase_if(servers, [](const auto& server) {
      return !server->is_ours() || has_closed(server->socket_);
    });
    for (auto server = servers.begin(); server != servers.end(); ++server) {
      if ((*server)->program_ != program) continue;
      std::unique_ptr<Hdf5Server> taken = std::move(*server);
      servers.erase(server);
      return taken;
    }
  }
  return start(program);
}

void Hdf5Server::give_back(std::unique_ptr<Hdf5Server> server) {
  std::lock_guard lock(idle().mutex);
  idle().servers.push_back(std::move(server));
}

Result<std::unique_ptr<Hdf5Server>> Hdf5Server::start(const std::string& program) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return system_error(errno, {}, "make a pair of sockets");
  if (serve_in_fork()) {
    const pid_t id = fork_server(ends[1]);
    const int error = errno;
    close(ends[1]);
    if (id < 0) close(ends[0]);
    if (id < 0) return system_error(error, program, "start it");
    return std::unique_ptr<Hdf5Server>(new Hdf5Server(program, ends[0], id));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  // The server may outlive this process for a moment. If the server kept the standard streams open,
  // a program that waits for the end of these streams would wait longer.
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  std::string name = program, command = "serve";
  char* const arguments[] = {name.data(), command.data(), nullptr};
  // The server, not each of its forks, then looks up the functions of the HDF5 library.
  std::string bind = "LD_BIND_NOW=1";
  std::vector<char*> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    variables.push_back(*variable);
  variables.insert(variables.end(), {bind.data(), nullptr});
  pid_t id = 0;
  const int error =
      posix_spawn(&id, program.c_str(), &actions, nullptr, arguments, variables.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return system_error(error, program, "start it");
  }
  return std::unique_ptr<Hdf5Server>(new Hdf5Server(program, ends[0], id));
}

Status Hdf5Server::ask(const std::vector<std::string>& arguments, int output, int shared) {
  std::error_code none;
  std::vector<std::byte> request = bytes_of_fields(
      ServerRequest{.folder = fs::current_path(none).string(), .arguments = arguments});
  if (request.size() > kMostRequest)
    return Status(Code::kLimit, "found arguments of more than 128 KiB for nmb-hdf5");

  const int descriptors[2] = {output, shared};
  const std::size_t bytes = (shared >= 0 ? 2 : 1) * sizeof(int);
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptors)] = {};
  iovec content{request.data(), request.size()};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(bytes);
  cmsghdr* const passed = CMSG_FIRSTHDR(&message);
  passed->cmsg_level = SOL_SOCKET;
  passed->cmsg_type = SCM_RIGHTS;
  passed->cmsg_len = CMSG_LEN(bytes);
  std::memcpy(CMSG_DATA(passed), descriptors, bytes);
  while (sendmsg(socket_, &message, MSG_NOSIGNAL) < 0) {
    if (errno == EPIPE || errno == ECONNRESET) {
      return ended_early(Code::kIo, "nmb-hdf5 ended before it was asked");
    } else if (errno != EINTR) {
      return system_error(errno, {}, "ask nmb-hdf5");
    }
  }
  return {};
}

Result<int> Hdf5Server::answer() {
  int status = 0;
  ssize_t got;
  while ((got = recv(socket_, &status, sizeof status, 0)) < 0 && errno == EINTR) {
  }
  if (got < 0 && errno != ECONNRESET) return system_error(errno, {}, "wait for nmb-hdf5");
  if (got != sizeof status) return ended_early(Code::kIo, "nmb-hdf5 ended without an answer");
  return status;
}

Status Hdf5Server::ended_early(Code code, std::string text) {
  rlimit memory{};
  if (getrlimit(RLIMIT_DATA, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY) {
    code = Code::kLimit;
    text += joined_text("; it may need more memory than the limit, which is ", memory.rlim_cur,
                        " bytes");
  }
  return Status(code, std::move(text));
}

Status Hdf5Server::ended_by_signal(int status, std::string_view work) {
  if (!WIFSIGNALED(status)) return {};
  const int signal = WTERMSIG(status);
  if (signal == SIGXCPU || signal == SIGKILL)
    return failure(Code::kLimit, "found a ", work,
                   " on which the HDF5 library takes more time than is allowed");
  return ended_early(
      Code::kDamaged,
      joined_text("found a ", work, " on which the HDF5 library ended by signal ", signal));
}

}  // namespace nmb::hdf5
