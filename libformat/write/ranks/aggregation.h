// Aggregation: chooses the ranks that write metadata, the index and small collective puts, and the
// length of the stripes in which they write (spec/rationale.md, "Aggregators").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parallel/communicator.h"
#include "ranks/writer_options.h"

namespace nmb {

struct FileSystem {
  std::uint64_t magic = 0;       // from statfs
  std::uint64_t block_size = 0;  // from statfs
  // Length in bytes of a stripe, which lies on one storage target; 0 if unknown.
  std::uint32_t stripe_size = 0;
  // Number of storage targets over which a file is distributed; 0 if unknown.
  int stripes = 0;
};

// The ranks that write: writer number s % writers writes stripe s of the file.
struct Aggregation {
  int writers = 1;
  std::uint64_t stripe = 64 << 10;  // bytes
  int value_writers = 1;
  // The ranks from which the writers are chosen: one or more of each node, in ascending order. If
  // the list is empty, the writers are chosen from all ranks.
  std::vector<int> candidates{};

  // Returns the aggregation for values, which has `value_writers` writers.
  Aggregation of_values() const { return {value_writers, stripe, value_writers, candidates}; }

  int rank_of(std::uint64_t at, int ranks) const {
    return writer(static_cast<int>(at / stripe % static_cast<std::uint64_t>(writers)), ranks);
  }
  // Returns the ranks that write metadata, in ascending order; an empty vector means all ranks.
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
    // Index of the first writer whose position among the candidates is `place` or higher.
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

// Returns an aggregation that suits the file system for `ranks` ranks on `nodes` machines. Does not
// set `candidates`.
Aggregation choose_aggregation(const FileSystem& file_system, int ranks, int nodes);

// Takes the number and size of stripes from `layout`, the extended attribute "lustre.lov" of a file
// or folder on Lustre. Changes nothing if the layout has an unknown format.
void take_lustre_layout(std::span<const std::byte> layout, FileSystem* file_system);

// Chooses the aggregation from the options and from the file system, which rank 0 queries.
// Collective: returns the same result on all ranks. create: true if the file does not have its name
// yet.
Result<Aggregation> agree_on_aggregation(Communicator& ranks, const std::string& path, bool create,
                                         const FileWriterOptions& options);

}  // namespace nmb
