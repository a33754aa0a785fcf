// Output: buffered standard output that checks every write. Long text for a terminal goes to the
// user's pager.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/printing/pager.h"
#include "dump/dump.h"
#include "wire/failure.h"

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
  // `call` is called before text is written to the descriptor; nullptr: nothing is called.
  void set_before_writing(std::function<void()> call) { before_writing_ = std::move(call); }
  // From now on, text that does not fit on the terminal goes to the user's pager. Nothing changes
  // if standard output is not a terminal.
  void use_pager() { may_page_ = terminal_; }
  bool is_paged() const { return is_paged_; }
  // Returns whether the text that was written so far ends in the middle of a line of the terminal.
  bool is_within_line() const { return is_within_line_; }
  // Flushes and closes standard output, because some file systems report failures only when a file
  // is closed. No other call may follow.
  Status close();
  // Returns whether a write failed because the reader closed the pipe, as `head` does. A closed
  // pipe is not an error.
  bool pipe_closed() const { return pipe_closed_; }
  bool is_failure(const Status& status) const { return status.is_copy_of(status_); }
  bool terminal() const { return terminal_; }
  // Returns write() as a TextSink; the Output must outlive it.
  TextSink sink();

 private:
  static constexpr std::size_t kBuffer = 64 * 1024;
  void fail(int error);
  Status start_pager();

  int fd_;
  bool terminal_;
  bool pipe_closed_ = false;
  bool may_page_ = false;
  std::optional<Pager> pager_;
  std::atomic<bool> is_paged_{false}, is_within_line_{false};
  std::string buffer_;
  std::function<void()> before_writing_;
  Status status_;
};

}  // namespace nmb::tools
