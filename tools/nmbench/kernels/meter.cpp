// Costs from the clock, malloc and /proc (see meter.h).
#include "meter.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace nmb::bench {

namespace {

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The file may be hidden in a container; then the numbers stay 0, and the report says null.
int system_calls_file() {
  static const int file = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
  return file;
}

void add_system_calls(Usage* usage) {
  char text[512];
  const ssize_t length = pread(system_calls_file(), text, sizeof text - 1, 0);
  if (length <= 0) return;
  text[length] = 0;
  std::istringstream words(text);
  std::string key;
  for (std::uint64_t number = 0; words >> key >> number;) {
    if (key == "rchar:") usage->read_bytes = number;
    if (key == "wchar:") usage->written_bytes = number;
    if (key == "syscr:") usage->reads = number;
    if (key == "syscw:") usage->writes = number;
  }
  // This read itself, so that the next phase does not count it.
  usage->read_bytes += static_cast<std::uint64_t>(length);
  ++usage->reads;
}

Clocks clocks_now() { return {seconds_of(CLOCK_MONOTONIC), seconds_of(CLOCK_PROCESS_CPUTIME_ID)}; }

// Bytes that malloc has given out.
std::uint64_t heap_now() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

Usage usage_now() {
  Usage usage;
  add_system_calls(&usage);
  rusage process{};
  getrusage(RUSAGE_SELF, &process);
  usage.peak_rss = static_cast<std::uint64_t>(process.ru_maxrss) * 1024;
  usage.mpi = mpi_use();
  return usage;
}

}  // namespace

void Meter::start() {
  phases_.clear();
  skipped_ = 0;
  heap_at_start_ = heap_now();
  last_ = usage_now();
  begin_ = clocks_now();
  started_ = ended_ = begin_.wall;
}

void Meter::skip() {
  const double from = begin_.wall;
  last_ = usage_now();
  begin_ = clocks_now();
  skipped_ += begin_.wall - from;
}

void Meter::phase(const std::string& name) {
  const Clocks end = clocks_now();
  const Usage now = usage_now();
  double metered = 0;
  for (const Phase& phase : phases_) metered += phase.metering;
  auto found = std::find_if(phases_.begin(), phases_.end(),
                            [&](const Phase& phase) { return phase.name == name; });
  // malloc counts by a walk over what was freed, which takes long after many small objects: in a
  // loop, it is asked as long as this takes a hundredth of the time.
  const bool is_new = found == phases_.end();
  if (is_new) found = phases_.insert(phases_.end(), Phase{name});
  if (is_new || metered < 0.01 * (end.wall - started_)) found->heap_at_end = heap_now();
  found->time.wall += end.wall - begin_.wall;
  found->time.cpu += end.cpu - begin_.cpu;
  Usage& sum = found->sum;
  sum.reads += now.reads - last_.reads;
  sum.read_bytes += now.read_bytes - last_.read_bytes;
  sum.writes += now.writes - last_.writes;
  sum.written_bytes += now.written_bytes - last_.written_bytes;
  sum.mpi.messages += now.mpi.messages - last_.mpi.messages;
  sum.mpi.collectives += now.mpi.collectives - last_.mpi.collectives;
  sum.mpi.sent_bytes += now.mpi.sent_bytes - last_.mpi.sent_bytes;
  sum.mpi.seconds += now.mpi.seconds - last_.mpi.seconds;
  sum.mpi.file_calls += now.mpi.file_calls - last_.mpi.file_calls;
  sum.mpi.file_seconds += now.mpi.file_seconds - last_.mpi.file_seconds;
  sum.peak_rss = now.peak_rss;
  last_ = now;
  ended_ = end.wall;
  begin_ = clocks_now();
  found->metering += begin_.wall - end.wall;
}

double Meter::total() const {
  double sum = 0;
  for (const Phase& phase : phases_) sum += phase.time.wall;
  return sum;
}

double Meter::cpu_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

nlohmann::json Meter::json() const {
  const bool calls = system_calls_file() >= 0;
  const auto call = [&](std::uint64_t number) {
    return calls ? nlohmann::json(number) : nlohmann::json(nullptr);
  };
  nlohmann::json all = nlohmann::json::array();
  for (const Phase& phase : phases_) {
    const Usage& u = phase.sum;
    all.push_back({{"name", phase.name},
                   {"wall", phase.time.wall},
                   {"cpu", phase.time.cpu},
                   {"metering", phase.metering},
                   {"heap", static_cast<std::int64_t>(phase.heap_at_end - heap_at_start_)},
                   {"peak_rss", u.peak_rss},
                   {"reads", call(u.reads)},
                   {"read_bytes", call(u.read_bytes)},
                   {"writes", call(u.writes)},
                   {"written_bytes", call(u.written_bytes)},
                   {"messages", u.mpi.messages},
                   {"collectives", u.mpi.collectives},
                   {"sent_bytes", u.mpi.sent_bytes},
                   {"mpi_seconds", u.mpi.seconds},
                   {"mpi_file_calls", u.mpi.file_calls},
                   {"mpi_file_seconds", u.mpi.file_seconds}});
  }
  return all;
}

nlohmann::json percentiles(std::vector<double> seconds) {
  if (seconds.empty()) return nullptr;
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double part) {
    const double place = std::ceil(part * static_cast<double>(seconds.size())) - 1;
    return seconds[static_cast<std::size_t>(std::max(0.0, place))];
  };
  return {{"count", seconds.size()}, {"min", seconds.front()}, {"p50", at(0.5)},
          {"p90", at(0.9)},          {"p99", at(0.99)},        {"max", seconds.back()}};
}

}  // namespace nmb::bench
