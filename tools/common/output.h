// Output: buffered standard output; every write is checked.
#pragma once

#include <string>
#include <string_view>

#include "nmb/dump.h"
#include "nmb/status.h"

namespace nmb::tools {

// Not thread-safe. The constructor makes the process ignore SIGPIPE: if the reader has gone, writes
// fail.
class Output {
 public:
  explicit Output(int fd);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // After the first failure nothing more is written and the failure is returned.
  Status write(std::string_view text);
  Status flush();
  // Flushes and closes, because some file systems report failures only then. No call may follow.
  Status close();
  // Returns whether writing failed because the reader has gone, as `head` does: this is not an
  // error.
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
