// Tools that write a file as one process, never as several copies of it.
#pragma once

#include <string>

#include "nmb/mpi_ranks.h"

namespace nmb::tools {

// kUnsupported under an MPI launcher that started several processes: each would write the file.
inline Status check_one_process() {
  const int ranks = launched_ranks();
  if (ranks < 2) return {};
  return Status(Code::kUnsupported, "found " + std::to_string(ranks) +
                                        " processes of an MPI launcher, expected one; -j N uses "
                                        "several cores");
}

}  // namespace nmb::tools
