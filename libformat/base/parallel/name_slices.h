// NameSlices: divides the name space into slices with about the same number of names, each owned by
// a rank. The sort-based consistency check uses it ("Parallel Data Object Creation", section 3.3).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/communicator.h"

namespace nmb {

class NameSlices {
 public:
  // Makes a single slice, which rank 0 owns.
  NameSlices() = default;
  // Collective. Chooses the slices from samples of the names on all ranks. There are at most as
  // many slices as owners, and on average at least `least` names in a slice, unless there is only
  // one slice. names: the names of this rank, sorted. owners: the ranks that may own a slice, in
  // ascending order and the same on all ranks; empty if all ranks may own a slice.
  static Result<NameSlices> choose(Communicator& ranks, std::span<const std::string_view> names,
                                   std::uint64_t least, std::vector<int> owners = {});

  std::size_t count() const { return firsts_.size() + 1; }
  // Returns the rank that owns a slice. A later slice belongs to the same rank or to a higher rank.
  int owner(std::size_t slice) const {
    if (!owners_.empty()) return owners_[slice * owners_.size() / count()];
    return static_cast<int>(slice * static_cast<std::size_t>(ranks_) / count());
  }
  // Returns the index in the sorted `names` at which each slice begins, and the number of names as
  // the last element.
  std::vector<std::size_t> cut(std::span<const std::string_view> names) const;

 private:
  int ranks_ = 1;
  std::vector<int> owners_;          // empty if all ranks may own a slice
  std::vector<std::string> firsts_;  // first name of each slice but slice 0
};

}  // namespace nmb
