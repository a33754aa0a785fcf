// Aggregation: which ranks write metadata, index and small values that several ranks put together,
// and in stripes of what length (spec/rationale.md, "Aggregators").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nmb/communicator.h"
#include "nmb/writer.h"

namespace nmb {

struct FileSystem {
  std::uint64_t magic = 0;        // from statfs
  std::uint64_t block_size = 0;   // from statfs
  std::uint32_t stripe_size = 0;  // how many contiguous bytes a storage target holds; 0: not known
  int stripes = 0;                // storage targets among which a file is divided; 0: not known
};

// The ranks that write. Stripe s of the file belongs to writer s % writers.
struct Aggregation {
  int writers = 1;
  std::uint64_t stripe = 64 << 10;  // bytes
  int value_writers = 1;
  // The ranks among which the writers are, ascending: the lowest of each node, or more of each.
  // Empty: all ranks.
  std::vector<int> candidates{};

  // The same for values.
  Aggregation of_values() const { return {value_writers, stripe, value_writers, candidates}; }

  int rank_of(std::uint64_t at, int ranks) const {
    return writer(static_cast<int>(at / stripe % static_cast<std::uint64_t>(writers)), ranks);
  }
  // Returns the ranks that write metadata, ascending. Empty: all ranks.
  std::vector<int> writer_ranks(int ranks) const {
    std::vector<int> all;
    for (int i = 0; writers < ranks && i < writers; ++i) all.push_back(writer(i, ranks));
    return all;
  }
  bool writes(int rank, int ranks) const {
    const std::int64_t all = among(ranks);
    const auto found = std::ranges::lower_bound(candidates, rank);
    if (!candidates.empty() && (found == candidates.end() || *found != rank)) return false;
    const std::int64_t place = candidates.empty() ? rank : found - candidates.begin();
    // The first writer at `place` or behind it.
    const std::int64_t i = (place * writers + all - 1) / all;
    return i < writers && i * all / writers == place;
  }

 private:
  std::int64_t among(int ranks) const {
    return candidates.empty() ? ranks : static_cast<std::int64_t>(candidates.size());
  }
  int writer(int i, int ranks) const {
    const std::int64_t place = i * among(ranks) / writers;
    return candidates.empty() ? static_cast<int>(place)
                              : candidates[static_cast<std::size_t>(place)];
  }
};

// What suits the file system for `ranks` ranks on `nodes` machines, without their candidates.
Aggregation choose_aggregation(const FileSystem& file_system, int ranks, int nodes);

// Takes stripes and their size from a Lustre layout, in the form of the extended attribute
// "lustre.lov" of a file or folder. A layout of another kind, or one that does not state a number,
// changes neither.
void take_lustre_layout(std::span<const std::byte> layout, FileSystem* file_system);

// Collective: returns the same on all ranks, from the options or from the file system that rank 0
// finds. create: the file does not have its name yet.
Result<Aggregation> agree_on_aggregation(Communicator& ranks, const std::string& path, bool create,
                                         const WriterOptions& options);

}  // namespace nmb
