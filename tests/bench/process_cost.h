// The cost of a piece of work for this process: wall and CPU time, peak memory, reads.
#pragma once

#include <cstdint>

namespace nmb::bench {

struct Time {
  double wall = 0, cpu = 0, user = 0;  // seconds; of all threads, cpu: in the system too
  friend Time operator-(Time a, Time b) {
    return {a.wall - b.wall, a.cpu - b.cpu, a.user - b.user};
  }
};
Time now();
// Of the calling thread; user is not known.
Time now_of_thread();

// Peak resident memory above what is resident at construction. One at a time.
class PeakMemory {
 public:
  PeakMemory();
  double megabytes() const;  // of 10^6 bytes

 private:
  std::uint64_t base_;
};

// System calls that read, and their bytes, whoever in the process makes them.
struct Reads {
  std::uint64_t calls = 0, bytes = 0;
};
Reads reads_so_far();

}  // namespace nmb::bench
