// Meter: what each phase of a kernel costs this process: time, memory, system calls, messages.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace nmb::bench {

// Calls of MPI since the process began, counted where the library of a back end calls MPI. What an
// MPI library does inside its own calls is not seen.
struct MpiUse {
  std::uint64_t messages = 0;     // sends
  std::uint64_t collectives = 0;  // collective calls, also those of MPI-IO
  std::uint64_t sent_bytes = 0;   // of sends, and this process's part in collective calls
  double seconds = 0;             // in calls that communicate
  std::uint64_t file_calls = 0;   // of MPI-IO that read or write
  double file_seconds = 0;
};
MpiUse mpi_use();

struct Clocks {
  double wall = 0, cpu = 0;
};
struct Usage {
  std::uint64_t peak_rss = 0;  // most resident bytes so far
  std::uint64_t reads = 0, read_bytes = 0, writes = 0, written_bytes = 0;  // system calls
  MpiUse mpi;
};

class Meter {
 public:
  // Begins to count. Memory is relative to this moment.
  void start();
  // Ends a phase, which began when the last one ended. A phase of a name that was used before is
  // added to it.
  void phase(const std::string& name);
  // What happened since the last phase ended belongs to none.
  void skip();
  double total() const;  // wall seconds of all phases
  // From start() to the end of the last phase, without what was skipped: the phases, and what was
  // metered between them.
  double wall() const { return ended_ - started_ - skipped_; }
  static double cpu_seconds();  // of this process since it began
  nlohmann::json json() const;

 private:
  struct Phase {
    std::string name;
    Clocks time{};
    double metering = 0;  // wall seconds to read the counters, which are no part of the phase
    Usage sum{};
    std::uint64_t heap_at_end = 0;  // bytes that malloc has given out
  };
  Usage last_;    // counters
  Clocks begin_;  // of the phase
  std::uint64_t heap_at_start_ = 0;
  double started_ = 0, ended_ = 0, skipped_ = 0;
  std::vector<Phase> phases_;
};

// p50, p90, p99 and the extremes of seconds.
nlohmann::json percentiles(std::vector<double> seconds);

}  // namespace nmb::bench
