#include "common/printing/pager.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "common/printing/io_failure.h"
#include "common/printing/terminal.h"

namespace nmb::tools {

namespace {

bool is_in_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (::access((std::string(rest.substr(0, end)) + "/" + program).c_str(), X_OK) == 0)
      return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

// Becomes the pager. in: the reading end of the pipe.
[[noreturn]] void run(const std::string& command, int in) {
  (void)::dup2(in, STDIN_FILENO);
  // F: ends at once if the text fits on the screen. R: shows colours. X: leaves the text on the
  // screen.
  (void)::setenv("LESS", "FRX", 0);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  (void)::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  ::_exit(127);
}

}  // namespace

std::string Pager::command() {
  for (const char* const name : {"NMB_PAGER", "PAGER"})
    if (const char* const value = std::getenv(name))
      return std::string_view(value) == "cat" ? "" : value;
  return is_in_path("less") ? "less" : "";
}

Result<Pager> Pager::start(const std::string& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return io_failure("standard output", "write", errno);
  const pid_t process = ::fork();
  if (process == 0) run(command, ends[0]);
  const int error = errno;
  (void)::close(ends[0]);
  if (process < 0) {
    (void)::close(ends[1]);
    return io_failure("standard output", "write", error);
  }
  // The pager gets the user's Ctrl-C. This program ends when the user leaves the pager.
  std::signal(SIGINT, SIG_IGN);
  int old_error = -1;
  if (is_terminal(STDERR_FILENO)) {
    old_error = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (old_error >= 0) (void)::dup2(ends[1], STDERR_FILENO);
  }
  return Pager(command, ends[1], old_error, process);
}

Status Pager::finish() {
  if (old_error_ >= 0) {
    (void)::dup2(old_error_, STDERR_FILENO);
    (void)::close(old_error_);
  }
  (void)::close(fd_);
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int kNotFound = 127, kNotExecutable = 126;  // exit codes of the shell
  if (WIFEXITED(status) &&
      (WEXITSTATUS(status) == kNotFound || WEXITSTATUS(status) == kNotExecutable))
    return Status(Code::kIo,
                  "the pager \"" + command_ + "\" cannot be run; set NMB_PAGER, or use --no-pager");
  return {};
}

}  // namespace nmb::tools
