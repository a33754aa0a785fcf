// memory_budget() limits a cache in a process whose memory is limited.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>

namespace nmb {

// Returns the memory limit of the process in bytes (RLIMIT_DATA, which --mem sets), or 2^64 - 1 if
// there is none.
inline std::uint64_t memory_limit() {
  rlimit allowed{};
  if (::getrlimit(RLIMIT_DATA, &allowed) != 0 || allowed.rlim_cur == RLIM_INFINITY)
    return ~std::uint64_t{0};
  return allowed.rlim_cur;
}

// Returns how many bytes a cache may take: `usual`, or an eighth of the process's memory limit if
// that is less, because several caches may be in use at a time. Data that do not fit into a cache
// are read or decoded again.
inline std::uint64_t memory_budget(std::uint64_t usual) {
  return std::min<std::uint64_t>(usual, memory_limit() / 8);
}

}  // namespace nmb
