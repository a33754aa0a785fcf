#include "common/printing/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "common/printing/io_failure.h"
#include "common/printing/terminal.h"

namespace nmb::tools {

namespace {

// Opens /dev/null for each closed standard descriptor. If descriptor 1 stayed closed, a file that
// is opened later could get this number, and text for standard output would be written to it.
void take_closed_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

std::size_t line_count(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
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

Status Output::start_pager() {
  const std::string command = Pager::command();
  if (command.empty()) return {};
  NMB_ASSIGN(pager_, Pager::start(command));
  is_paged_ = true;
  fd_ = pager_->fd();
  return {};
}

Status Output::flush() {
  if (buffer_.empty()) return status_;
  if (before_writing_) before_writing_();
  if (std::exchange(may_page_, false) && status_.ok() && line_count(buffer_) >= terminal_height())
    status_ = start_pager();
  is_within_line_ = terminal_ && buffer_.back() != '\n';
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
  const Status flushed = flush();
  if (pager_) {
    is_paged_ = false;
    fd_ = STDOUT_FILENO;
    if (const Status ended = pager_->finish(); !ended.ok()) {
      pipe_closed_ = false;
      return status_ = ended;
    }
  }
  NMB_TRY(flushed);
  if (::close(fd_) != 0 && errno != EINTR) fail(errno);
  return status_;
}

TextSink Output::sink() {
  return [this](std::string_view text) { return write(text); };
}

}  // namespace nmb::tools
