// Limits of this process (see limits.h).
#include "limits.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdint>

// Sanitizers set apart more addresses than any limit allows.
#ifdef __SANITIZE_ADDRESS__
#define NMB_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NMB_SANITIZED
#endif
#endif

namespace nmb::hdf5 {

namespace {

void limit(int what, std::uint64_t value) {
  const rlimit both{value, value};
  // Not to be had only where a lower one is set.
  (void)setrlimit(static_cast<__rlimit_resource_t>(what), &both);
}

}  // namespace

void limit_resources(const std::string& path) {
  struct stat about {};
  const std::uint64_t size =
      stat(path.c_str(), &about) == 0 ? static_cast<std::uint64_t>(about.st_size) : 0;
  constexpr std::uint64_t kSeconds = 10, kBytesASecond = 1 << 20;
  limit(RLIMIT_CPU, kSeconds + size / kBytesASecond);
  limit(RLIMIT_CORE, 0);
#ifndef NMB_SANITIZED
  constexpr std::uint64_t kMemory = std::uint64_t{1} << 30;
  limit(RLIMIT_AS, kMemory + 4 * size);
#endif
}

}  // namespace nmb::hdf5
