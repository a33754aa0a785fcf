// NameSlices: divides the name space into as many slices as there are owners, each with about the
// same number of names ("Parallel Data Object Creation", section 3.3: the sort-based consistency
// check).
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
  // One slice, owned by rank 0.
  NameSlices() = default;
  // Collective. names: this rank's, sorted. There are at most as many slices as ranks, and so few
  // that each has `least` names on average, but at least one. They are chosen by samples in
  // proportion to the names of each rank. owners: ranks that may own a slice, in ascending order
  // and the same on all ranks; empty: all.
  static Result<NameSlices> choose(Communicator& ranks, std::span<const std::string_view> names,
                                   std::uint64_t least, std::vector<int> owners = {});

  std::size_t count() const { return firsts_.size() + 1; }
  // Returns the rank that owns a slice; ascends with the slice.
  int owner(std::size_t slice) const {
    if (!owners_.empty()) return owners_[slice * owners_.size() / count()];
    return static_cast<int>(slice * static_cast<std::size_t>(ranks_) / count());
  }
  // Returns the begin of each slice among sorted names, and finally their number.
  std::vector<std::size_t> cut(std::span<const std::string_view> names) const;

 private:
  int ranks_ = 1;
  std::vector<int> owners_;          // empty: all ranks
  std::vector<std::string> firsts_;  // first name of each slice except the first slice
};

}  // namespace nmb
