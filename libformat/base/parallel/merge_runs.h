// Merges adjacent sorted runs into one sorted list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace nmb {

// The merge is stable and takes time n log(runs). ends: the end of each run in `items`.
template <class Item, class Less>
void merge_runs(std::vector<Item>& items, std::vector<std::size_t> ends, Less less) {
  auto at = [&](std::size_t i) { return items.begin() + static_cast<std::ptrdiff_t>(i); };
  while (ends.size() > 1) {
    std::vector<std::size_t> merged;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      const std::size_t end = i + 1 < ends.size() ? ends[i + 1] : ends[i];
      std::inplace_merge(at(begin), at(ends[i]), at(end), less);
      merged.push_back(end);
      begin = end;
    }
    ends = std::move(merged);
  }
}

}  // namespace nmb
