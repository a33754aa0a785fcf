// Pager: a program that shows long text on a terminal, screen by screen.
#pragma once

#include <sys/types.h>

#include <string>

#include "wire/failure.h"

namespace nmb::tools {

// Not thread-safe.
class Pager {
 public:
  // Returns the command that runs the user's pager: the value of NMB_PAGER, or else of PAGER, or
  // else "less" if it is installed. Returns "" if there is no pager, or if the value is empty or
  // "cat".
  static std::string command();

  // Starts the pager. Text for standard error also goes to the pager if standard error is a
  // terminal. Errors: kIo.
  static Result<Pager> start(const std::string& command);

  // Returns the descriptor to which the text is written.
  int fd() const { return fd_; }
  // Ends the text, and waits until the user has left the pager. Errors: kIo if the command could
  // not be run.
  Status finish();

 private:
  Pager(std::string command, int fd, int old_error, pid_t process)
      : command_(std::move(command)), fd_(fd), old_error_(old_error), process_(process) {}

  std::string command_;
  int fd_;         // the writing end of a pipe
  int old_error_;  // standard error as it was; -1 if it was not redirected
  pid_t process_;
};

}  // namespace nmb::tools
