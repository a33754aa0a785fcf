// Output: buffered standard output; every write is checked.
#pragma once

#include <string>
#include <string_view>

#include "nmb/dump.h"
#include "nmb/status.h"

namespace nmb::tools {

// Not thread-safe. The constructor makes the process ignore SIGPIPE: a write to a pipe without a
// reader fails instead of ending the process.
class Output {
 public:
  explicit Output(int fd);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // After the first failure, writes nothing more and returns this failure.
  Status write(std::string_view text);
  Status flush();
  // Flushes and closes standard output, because some file systems report failures only when a file
  // is closed. No other call may follow.
  Status close();
  // Returns whether a write failed because the reader closed the pipe, as `head` does. A closed
  // pipe is not an error.
  bool pipe_closed() const { return pipe_closed_; }
  // Returns whether `status` is the failure of this output.
  bool is_failure(const Status& status) const { return status.is_copy_of(status_); }
  bool terminal() const { return terminal_; }
  // Returns write() as a TextSink; the Output must outlive it.
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
