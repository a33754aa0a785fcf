#include "resource_limits.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <utility>

// Sanitizers reserve more address space than any limit allows, and open pipes to probe memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NMB_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NMB_SANITIZED
#endif
#endif

namespace nmb::hdf5 {

namespace {

#ifdef NMB_SANITIZED
constexpr std::uint64_t kSeconds = 10;
#else
constexpr std::uint64_t kSeconds = 1;
#endif

void limit(int what, std::uint64_t value) {
  const rlimit both{value, value};
  // Fails only if a lower limit is set already.
  (void)setrlimit(static_cast<__rlimit_resource_t>(what), &both);
}

// From now on, new file descriptors must have numbers below `below`. Returns the earlier limit.
rlim_t limit_descriptors([[maybe_unused]] rlim_t below) {
#ifndef NMB_SANITIZED
  rlimit both{};
  if (getrlimit(RLIMIT_NOFILE, &both) != 0) return below;
  const rlim_t before = std::exchange(both.rlim_cur, std::min(below, both.rlim_max));
  (void)setrlimit(RLIMIT_NOFILE, &both);
  return before;
#else
  return below;
#endif
}

}  // namespace

void limit_resources(const std::string& path) {
  struct stat about {};
  const std::uint64_t size =
      stat(path.c_str(), &about) == 0 ? static_cast<std::uint64_t>(about.st_size) : 0;
  // Damaged heaps can make HDF5 loop forever; this limit ends such loops soon for small files.
  // In measurements, files with many small objects took at most 0.1 s for each 64 KiB.
  limit(RLIMIT_CPU, kSeconds + std::min<std::uint64_t>(size >> 16, 60) + (size >> 20));
  limit(RLIMIT_CORE, 0);
#ifndef NMB_SANITIZED
  constexpr std::uint64_t kMemory = std::uint64_t{1} << 30;
  limit(RLIMIT_AS, kMemory + 4 * size);
#endif
}

void limit_work(std::uint64_t stored, std::uint64_t decoded) {
  const auto limit_now = [](int what, std::uint64_t value) {
    const auto resource = static_cast<__rlimit_resource_t>(what);
    rlimit both{};
    if (getrlimit(resource, &both) != 0) return;
    both.rlim_cur = std::min<rlim_t>(value, both.rlim_max);
    (void)setrlimit(resource, &both);
  };
  rusage used{};
  (void)getrusage(RUSAGE_SELF, &used);
  const auto seconds = static_cast<std::uint64_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  // The limit counts whole seconds. A filter takes less than 0.1 s for each MiB.
  limit_now(RLIMIT_CPU, seconds + 1 + kSeconds + ((stored + decoded) >> 20));
  limit(RLIMIT_CORE, 0);
#ifndef NMB_SANITIZED
  constexpr std::uint64_t kMemory = std::uint64_t{1} << 30;
  limit_now(RLIMIT_AS, kMemory + 8 * (stored + decoded));
#endif
}

void refuse_opening() { limit_descriptors(0); }

OpeningAllowed::OpeningAllowed() : before_(limit_descriptors(RLIM_INFINITY)) {}
OpeningAllowed::~OpeningAllowed() { limit_descriptors(before_); }

}  // namespace nmb::hdf5
