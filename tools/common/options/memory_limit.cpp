#include "common/options/memory_limit.h"

#include <pthread.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "common/printing/units.h"

namespace nmb::tools {

namespace {

constexpr std::size_t kStack = 1 << 20;

Status refused(int error) {
  return Status(Code::kIo, std::string("--mem: cannot be set: ") + std::strerror(error));
}

// Returns how many bytes of memory now count towards the limit.
std::uint64_t used_by_now() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == "VmData:" && status >> kibibytes) return kibibytes << 10;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

}  // namespace

Status limit_memory(std::uint64_t bytes) {
  const std::uint64_t used = used_by_now();
  if (used >= bytes)
    return Status(Code::kLimit, "--mem: found " + human_bytes(bytes) + ", expected more than " +
                                    human_bytes(used) + ", which the program uses at start");
  pthread_attr_t threads;
  int failed = pthread_attr_init(&threads);
  if (failed == 0) {
    failed = pthread_attr_setstacksize(&threads, kStack);
    if (failed == 0) failed = pthread_setattr_default_np(&threads);
    (void)pthread_attr_destroy(&threads);
  }
  if (failed != 0) return refused(failed);
  const rlimit both{bytes, bytes};
  if (::setrlimit(RLIMIT_DATA, &both) != 0) return refused(errno);
  return {};
}

}  // namespace nmb::tools
