// IntervalSet: a set of bytes, stored as disjoint intervals.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

namespace nmb {

struct Interval {
  std::uint64_t begin, end;
};

// An operation takes time proportional to the logarithm of the number of intervals.
class IntervalSet {
 public:
  void add(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    auto it = ends_.upper_bound(begin);
    if (it != ends_.begin() && std::prev(it)->second >= begin)
      --it;
    else
      it = ends_.emplace_hint(it, begin, end);
    it->second = std::max(it->second, end);
    for (auto next = std::next(it); next != ends_.end() && next->first <= it->second;
         next = ends_.erase(next))
      it->second = std::max(it->second, next->second);
  }
  void remove(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    for (auto it = first_behind(begin); it != ends_.end() && it->first < end;) {
      const Interval old{it->first, it->second};
      it = ends_.erase(it);
      if (old.begin < begin) ends_.emplace(old.begin, begin);
      if (old.end > end) ends_.emplace(end, old.end);
    }
  }
  bool touches(std::uint64_t begin, std::uint64_t end) const {
    auto it = first_behind(begin);
    return it != ends_.end() && it->first < end;
  }
  // Returns the parts of [begin, end) that are not in the set.
  std::vector<Interval> gaps(std::uint64_t begin, std::uint64_t end) const {
    std::vector<Interval> out;
    std::uint64_t at = begin;
    for (auto it = first_behind(begin); it != ends_.end() && it->first < end; ++it) {
      if (it->first > at) out.push_back({at, it->first});
      at = it->second;
    }
    if (at < end) out.push_back({at, end});
    return out;
  }
  std::vector<Interval> all() const {
    std::vector<Interval> out;
    for (const auto& [begin, end] : ends_) out.push_back({begin, end});
    return out;
  }
  bool empty() const { return ends_.empty(); }
  void clear() { ends_.clear(); }

  template <class Fields>
  friend void fields(Fields& all, IntervalSet& set) {
    all(set.ends_);
  }

 private:
  using Ends = std::map<std::uint64_t, std::uint64_t>;
  // Returns the first interval that ends after `at`.
  Ends::const_iterator first_behind(std::uint64_t at) const {
    auto it = ends_.upper_bound(at);
    return it != ends_.begin() && std::prev(it)->second > at ? std::prev(it) : it;
  }

  // Maps the begin of each interval to its end. Adjacent intervals are joined.
  Ends ends_;
};

}  // namespace nmb
