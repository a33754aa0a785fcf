#include "origins/written.h"

#include <iterator>

namespace nmb {

void Written::forget_sums(std::uint64_t from, std::uint64_t to) {
  // The pieces in sums_ do not overlap.
  auto it = sums_.upper_bound(from);
  if (it != sums_.begin()) {
    const auto before = std::prev(it);
    if (before->first + before->second.length > from) it = before;
  }
  while (it != sums_.end() && it->first < to) it = sums_.erase(it);
}

void Written::unite(Written other) {
  std::erase_if(other.sums_, [&](const auto& sum) {
    return bytes_.touches(sum.first, sum.first + sum.second.length);
  });
  for (const Interval& interval : other.bytes_.all()) add(interval.begin, interval.end);
  sums_.merge(other.sums_);
}

}  // namespace nmb
