// Converts errno to a Status.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "wire/failure.h"

namespace nmb {

inline Status system_error(int error, const std::string& file, const std::string& doing) {
  Code code = Code::kIo;
  if (error == ENOENT || error == ENOTDIR) code = Code::kNotFound;
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) code = Code::kNoSpace;
  if (error == EEXIST) code = Code::kExists;
  return Status(code, file, kNoOffset, "", "cannot " + doing + ": " + std::strerror(error));
}

}  // namespace nmb
