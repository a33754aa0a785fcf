// Records which bytes of an extent were written (see origins/written.h).
#include "origins/written.h"

#include <iterator>
#include <vector>

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

void Written::put(MessageWriter& out) const {
  const std::vector<Interval> intervals = bytes_.all();
  out.put_bytes(std::as_bytes(std::span(intervals)));
  out.put<std::uint64_t>(sums_.size());
  for (const auto& [from, sum] : sums_) {
    out.put(from);
    out.put(sum);
  }
}

void Written::take(MessageReader& in) {
  MessageReader intervals(in.get_bytes());
  std::map<std::uint64_t, Sum> sums;
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
    const auto from = in.get<std::uint64_t>();
    const auto sum = in.get<Sum>();
    if (!bytes_.touches(from, from + sum.length)) sums.emplace(from, sum);
  }
  while (!intervals.at_end()) {
    const auto interval = intervals.get<Interval>();
    add(interval.begin, interval.end);
  }
  sums_.merge(sums);
}

}  // namespace nmb
