// SpaceMap: records which bytes of a file belong to a structure (spec/format.md, section 3).
// Adjacent structures are stored as one range.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

namespace nmb {

class SpaceMap {
 public:
  // Claims the bytes [begin, end). If another range has claimed one of them, claims nothing, and
  // returns the begin of the later of the two ranges.
  std::optional<std::uint64_t> claim(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return std::nullopt;
    auto next = ends_.upper_bound(begin);
    auto before = next == ends_.begin() ? ends_.end() : std::prev(next);
    if (before != ends_.end() && before->second > begin) return begin;
    if (next != ends_.end() && next->first < end) return next->first;
    if (next != ends_.end() && next->first == end) {
      end = next->second;
      ends_.erase(next);
    }
    if (before != ends_.end() && before->second == begin)
      before->second = end;
    else
      ends_.emplace(begin, end);
    return std::nullopt;
  }

  // Calls visit(begin, end) for each part of [begin, end) that no structure has claimed, in order.
  template <class Visit>
  void for_each_gap(std::uint64_t begin, std::uint64_t end, Visit visit) const {
    for (const auto& [taken, taken_end] : ends_) {
      if (taken >= end) break;
      if (taken > begin) visit(begin, taken);
      if (taken_end > begin) begin = taken_end;
    }
    if (begin < end) visit(begin, end);
  }

 private:
  // Maps the begin of each claimed range to its end. Adjacent ranges are joined.
  std::map<std::uint64_t, std::uint64_t> ends_;
};

}  // namespace nmb
