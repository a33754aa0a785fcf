// Output: standard output, buffered, every write of it checked.
#pragma once

#include <string>
#include <string_view>

#include "nmb/dump.h"
#include "nmb/status.h"

namespace nmb::tools {

// Not thread-safe. From its construction on, SIGPIPE is ignored: a reader that went away is a
// status.
class Output {
 public:
  explicit Output(int fd);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // The first failure sticks: nothing more is written after it.
  Status write(std::string_view text);
  Status flush();
  // Flushes and closes, since some file systems tell of failures only then. Nothing may follow.
  Status close();
  // The failure was a reader that went away, as `head` does: no reason to complain.
  bool pipe_closed() const { return pipe_closed_; }
  // `status` is the failure of this output.
  bool is_failure(const Status& status) const { return status.is_copy_of(status_); }
  bool terminal() const { return terminal_; }
  // write() as a TextSink; the Output must outlive it.
  TextSink sink();

 private:
  static constexpr std::size_t kBuffer = 64 * 1024;
  void fail(int error);

  int fd_;
  bool terminal_;
  bool pipe_closed_ = false;
  std::string buffer_;
  Status status_;
};

}  // namespace nmb::tools
