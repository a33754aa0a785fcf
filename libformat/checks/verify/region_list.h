// RegionList: collects the regions of a file (verify/layout.h) in any order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "verify/layout.h"

namespace nmb {

class RegionList {
 public:
  // Adds a region. Regions must not share bytes.
  void add(const Region& region) {
    if (region.length == 0) return;
    if (!regions_.empty() && joins(regions_.back(), region))
      regions_.back().length += region.length;
    else if (regions_.size() < kMostRegions)
      regions_.push_back(region);
    else
      is_complete_ = false;
  }
  // Returns false if there were more than kMostRegions regions.
  bool is_complete() const { return is_complete_; }

  // Returns the regions of a file of `size` bytes in order of position. Bytes in no region become
  // regions of kind kUnused.
  std::vector<Region> take(std::uint64_t size) {
    std::ranges::sort(regions_, {}, &Region::position);
    std::vector<Region> all = std::exchange(regions_, {});
    std::uint64_t at = 0;
    const std::size_t count = all.size();
    for (std::size_t i = 0; i < count; ++i) {
      const Region region = all[i];
      if (region.position > at) all.push_back({at, region.position - at, RegionKind::kUnused, {}});
      at = region.end();
    }
    if (at < size) all.push_back({at, size - at, RegionKind::kUnused, {}});
    std::ranges::inplace_merge(all, all.begin() + static_cast<std::ptrdiff_t>(count), {},
                               &Region::position);
    // Joins regions that were added apart.
    std::size_t kept = 0;
    for (const Region& region : all) {
      if (kept > 0 && joins(all[kept - 1], region))
        all[kept - 1].length += region.length;
      else
        all[kept++] = region;
    }
    all.resize(kept);
    return all;
  }

 private:
  static bool joins(const Region& a, const Region& b) {
    return a.end() == b.position && a.kind == b.kind && a.owner == b.owner;
  }

  std::vector<Region> regions_;
  bool is_complete_ = true;
};

}  // namespace nmb
