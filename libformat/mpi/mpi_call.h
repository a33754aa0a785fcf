// Converts results of MPI calls to Status.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <string>

#include "wire/failure.h"
#include "wire/joined_text.h"

namespace nmb {

inline std::string mpi_error_text(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS || length <= 0)
    return joined_text("error ", code);
  std::string line(text, static_cast<std::size_t>(length));
  std::ranges::replace(line, '\n', ' ');
  return line;
}

inline Status check(const char* call, int code) {
  if (code == MPI_SUCCESS) return {};
  return Status(Code::kIo, joined_text(call, ": ", mpi_error_text(code)));
}

}  // namespace nmb
