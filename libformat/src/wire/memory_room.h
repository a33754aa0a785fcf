// memory_room: what a cache may take, also in a process that may take little memory.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>

namespace nmb {

// In bytes: `usual`, or a quarter of the memory that the system lets the process take (RLIMIT_DATA,
// which --mem sets), if that is less. What does not fit is read or decoded again.
inline std::uint64_t memory_room(std::uint64_t usual) {
  rlimit allowed{};
  if (::getrlimit(RLIMIT_DATA, &allowed) != 0 || allowed.rlim_cur == RLIM_INFINITY) return usual;
  return std::min<std::uint64_t>(usual, allowed.rlim_cur / 4);
}

}  // namespace nmb
