// Costs from getrusage and /proc (see process_cost.h).
#include "process_cost.h"

#include <malloc.h>
#include <sys/resource.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

namespace nmb::bench {

namespace {

// The number behind "KEY:" in a file of /proc.
std::uint64_t number_of(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    std::uint64_t number = 0;
    if (word == key && file >> number) return number;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  throw std::runtime_error(std::string(path) + ": found no " + key);
}

double wall_seconds() {
  const auto wall = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(wall).count();
}

constexpr std::uint64_t kKiB = 1024;
constexpr const char* kStatus = "/proc/self/status";

}  // namespace

Time now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return {wall_seconds(), seconds(usage.ru_utime) + seconds(usage.ru_stime),
          seconds(usage.ru_utime)};
}

Time now_of_thread() {
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  return {wall_seconds(), static_cast<double>(cpu.tv_sec) + 1e-9 * static_cast<double>(cpu.tv_nsec),
          0};
}

PeakMemory::PeakMemory() {
  malloc_trim(0);
  std::ofstream reset("/proc/self/clear_refs");
  if (!(reset << "5" << std::flush))
    throw std::runtime_error("/proc/self/clear_refs: cannot reset the peak");
  base_ = number_of(kStatus, "VmRSS:") * kKiB;
}

double PeakMemory::megabytes() const {
  return (static_cast<double>(number_of(kStatus, "VmHWM:") * kKiB) - static_cast<double>(base_)) /
         1e6;
}

Reads reads_so_far() {
  return {number_of("/proc/self/io", "syscr:"), number_of("/proc/self/io", "rchar:")};
}

}  // namespace nmb::bench
