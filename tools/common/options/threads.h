// The number of threads that a tool uses if the user does not give -j.
#pragma once

#include <sched.h>

#include <thread>

namespace nmb::tools {

// Returns the number of cores that this process may use, at least 1.
inline unsigned default_threads() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) > 0)
    return static_cast<unsigned>(CPU_COUNT(&cores));
  const unsigned cores_known = std::thread::hardware_concurrency();
  return cores_known == 0 ? 1 : cores_known;
}

}  // namespace nmb::tools
