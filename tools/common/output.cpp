// Checked standard output (see output.h).
#include "common/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "common/io_failure.h"
#include "common/terminal.h"

namespace nmb::tools {

namespace {

// Opens /dev/null for each closed standard descriptor. If descriptor 1 stayed closed, a file that
// is opened later could get this number, and text for standard output would be written to that
// file.
void take_closed_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

Output::Output(int fd) : fd_(fd), terminal_(is_terminal(fd)) {
  take_closed_descriptors();
  std::signal(SIGPIPE, SIG_IGN);
  // Without SIGXFSZ, a write beyond the limit of a file's size fails instead of ending the process.
  std::signal(SIGXFSZ, SIG_IGN);
  buffer_.reserve(kBuffer);
}

void Output::fail(int error) {
  pipe_closed_ = error == EPIPE;
  status_ = io_failure("standard output", "write", error);
}

Status Output::write(std::string_view text) {
  if (!status_.ok()) return status_;
  if (buffer_.size() + text.size() > kBuffer) NMB_TRY(flush());
  buffer_ += text;
  return buffer_.size() >= kBuffer ? flush() : Status();
}

Status Output::flush() {
  std::string_view rest = buffer_;
  while (status_.ok() && !rest.empty()) {
    const ssize_t done = ::write(fd_, rest.data(), rest.size());
    if (done >= 0)
      rest.remove_prefix(static_cast<std::size_t>(done));
    else if (errno != EINTR)
      fail(errno);
  }
  buffer_.clear();
  return status_;
}

Status Output::close() {
  NMB_TRY(flush());
  if (::close(fd_) != 0 && errno != EINTR) fail(errno);
  return status_;
}

TextSink Output::sink() {
  return [this](std::string_view text) { return write(text); };
}

}  // namespace nmb::tools
