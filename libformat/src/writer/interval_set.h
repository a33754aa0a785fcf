// IntervalSet: which bytes were written, as sorted disjoint intervals.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nmb {

struct Interval {
  std::uint64_t begin, end;
};

class IntervalSet {
 public:
  void add(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    if (!list_.empty() && list_.back().end == begin) {  // the common case: one after the other
      list_.back().end = end;
      return;
    }
    auto first = std::lower_bound(list_.begin(), list_.end(), begin,
                                  [](const Interval& i, std::uint64_t at) { return i.end < at; });
    auto last = first;
    while (last != list_.end() && last->begin <= end) {
      begin = std::min(begin, last->begin);
      end = std::max(end, last->end);
      ++last;
    }
    if (first == last) {
      list_.insert(first, {begin, end});
    } else {
      *first = {begin, end};
      list_.erase(first + 1, last);
    }
  }
  void remove(std::uint64_t begin, std::uint64_t end) {
    std::vector<Interval> kept;
    for (const Interval& i : list_) {
      if (i.begin < std::min(i.end, begin)) kept.push_back({i.begin, std::min(i.end, begin)});
      if (std::max(i.begin, end) < i.end) kept.push_back({std::max(i.begin, end), i.end});
    }
    list_ = std::move(kept);
  }
  bool touches(std::uint64_t begin, std::uint64_t end) const {
    auto it = std::upper_bound(list_.begin(), list_.end(), begin,
                               [](std::uint64_t at, const Interval& i) { return at < i.end; });
    return it != list_.end() && it->begin < end;
  }
  // The parts of [begin, end) that are not in the set.
  std::vector<Interval> gaps(std::uint64_t begin, std::uint64_t end) const {
    std::vector<Interval> out;
    auto it = std::upper_bound(list_.begin(), list_.end(), begin,
                               [](std::uint64_t at, const Interval& i) { return at < i.end; });
    std::uint64_t at = begin;
    for (; it != list_.end() && it->begin < end; ++it) {
      if (it->begin > at) out.push_back({at, it->begin});
      at = it->end;
    }
    if (at < end) out.push_back({at, end});
    return out;
  }
  void clear() { list_.clear(); }

 private:
  std::vector<Interval> list_;
};

}  // namespace nmb
