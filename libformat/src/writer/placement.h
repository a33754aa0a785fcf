// Placement: what a sequence of allocations does to the place where free space begins. Sequences
// are joined without knowing where they begin, so that each rank's positions follow from a scan
// over the ranks before it (spec/format.md, section 8).
#pragma once

#include <algorithm>
#include <cstdint>

#include "wire/checked.h"

namespace nmb {

// Alignment of an extent or piece of that length (spec/format.md, section 8).
constexpr std::uint64_t extent_alignment(std::uint64_t length) {
  return length >= (1u << 20) ? 4096 : 8;
}

// Free space begins at multiples of 8. Lengths past 2^62 stay past 2^62: check the end.
class Placement {
 public:
  static constexpr std::uint64_t kAlignment = 4096;
  static constexpr std::uint64_t kLimit = std::uint64_t{1} << 62;

  // `length` bytes at the next multiple of 8, or of kAlignment.
  static Placement of(std::uint64_t length, bool aligned) {
    Placement one;
    one.aligned_ = aligned;
    (aligned ? one.behind_ : one.ahead_) = add(0, length);
    return one;
  }
  // This one and then `next`.
  Placement then(const Placement& next) const {
    Placement both = *this;
    if (!next.aligned_) {
      (aligned_ ? both.behind_ : both.ahead_) = add(aligned_ ? behind_ : ahead_, next.ahead_);
    } else if (!aligned_) {
      both = next;
      both.ahead_ = add(ahead_, next.ahead_);
    } else {
      both.behind_ = add(round_up(add(behind_, next.ahead_), kAlignment), next.behind_);
    }
    return both;
  }
  // Where free space begins after it, if it begins at `start` before.
  std::uint64_t end(std::uint64_t start) const {
    const std::uint64_t at = add(start, ahead_);
    return aligned_ ? add(round_up(at, kAlignment), behind_) : at;
  }

 private:
  static std::uint64_t add(std::uint64_t a, std::uint64_t b) {
    return std::min(a, 2 * kLimit) >= 2 * kLimit - std::min(b, 2 * kLimit) ? 2 * kLimit
                                                                           : round_up(a + b, 8);
  }
  // `ahead_` bytes; if aligned_, then up to a multiple of kAlignment and `behind_` bytes more.
  std::uint64_t ahead_ = 0;
  std::uint64_t behind_ = 0;
  bool aligned_ = false;
};

}  // namespace nmb
