// Aggregation: which ranks write metadata and index, and small parts of values that ranks put
// together, and in stripes of what length
// (spec/rationale.md, "Aggregators").
#pragma once

#include <cstdint>
#include <string>

#include "nmb/communicator.h"
#include "nmb/writer.h"

namespace nmb {

// As statfs says.
struct FileSystem {
  std::uint64_t magic = 0;
  std::uint64_t block_size = 0;
};

// The writers are spread evenly over the ranks; stripe s of the file belongs to writer
// s % writers.
struct Aggregation {
  int writers = 1;
  std::uint64_t stripe = 64 << 10;  // bytes
  int value_writers = 1;

  // The same for values.
  Aggregation of_values() const { return {value_writers, stripe, value_writers}; }

  int rank_of(std::uint64_t at, int ranks) const {
    const auto all = static_cast<std::uint64_t>(writers);
    return static_cast<int>(at / stripe % all * static_cast<std::uint64_t>(ranks) / all);
  }
  bool writes(int rank, int ranks) const {
    // The first writer at `rank` or behind it.
    const std::int64_t i = (std::int64_t{rank} * writers + ranks - 1) / ranks;
    return i < writers && i * ranks / writers == rank;
  }
};

// What suits the file system for `ranks` ranks on `nodes` machines.
Aggregation choose_aggregation(const FileSystem& file_system, int ranks, int nodes);

// Collective: the same on all ranks, as the options say or rank 0 finds the file system. create:
// the file has no name yet.
Result<Aggregation> agree_on_aggregation(Communicator& ranks, const std::string& path, bool create,
                                         const WriterOptions& options);

}  // namespace nmb
