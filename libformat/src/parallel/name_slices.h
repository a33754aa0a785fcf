// NameSlices: the name space in as many slices as there are owners, each with about the same number
// of names ("Parallel Data Object Creation", section 3.3: the sort-based consistency check).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/communicator.h"

namespace nmb {

class NameSlices {
 public:
  // One slice, of rank 0.
  NameSlices() = default;
  // Collective; names: this rank's, sorted. No more slices than ranks, and none without
  // `least` names in the mean, but one. Chosen by samples in proportion to what the ranks have.
  // owners: the ranks that may own one, ascending and the same on all; empty: all.
  static Result<NameSlices> choose(Communicator& ranks, std::span<const std::string_view> names,
                                   std::uint64_t least, std::vector<int> owners = {});

  std::size_t count() const { return firsts_.size() + 1; }
  // The rank that owns a slice; ascends.
  int owner(std::size_t slice) const {
    if (!owners_.empty()) return owners_[slice * owners_.size() / count()];
    return static_cast<int>(slice * static_cast<std::size_t>(ranks_) / count());
  }
  // Where each slice begins among sorted names, and their number at the end.
  std::vector<std::size_t> cut(std::span<const std::string_view> names) const;

 private:
  int ranks_ = 1;
  std::vector<int> owners_;          // empty: all ranks
  std::vector<std::string> firsts_;  // of the slices but the first
};

}  // namespace nmb
