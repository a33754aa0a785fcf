// Failures of system calls on files.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "wire/failure.h"

namespace nmb::tools {

// Returns an error for a failed system call. `what` is the action that failed, for example "write".
inline Status io_failure(const std::string& file, const std::string& what, int error = errno) {
  const bool is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return Status(is_full ? Code::kNoSpace : Code::kIo, file, kNoOffset, "",
                "cannot " + what + ": " + std::strerror(error));
}

}  // namespace nmb::tools
