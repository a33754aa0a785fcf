// Placement: how a sequence of allocations moves the place where free space begins. Sequences are
// joined without knowing where they begin, so that each rank's positions follow from a scan over
// the ranks before it (spec/format.md, section 8).
#pragma once

#include <algorithm>
#include <cstdint>

#include "wire/checked.h"

namespace nmb {

// Returns the alignment of an extent or piece of that length (spec/format.md, section 8). asked: a
// power of 2 from 4096 on, which applies if the length is at least as large; or 0.
constexpr std::uint64_t extent_alignment(std::uint64_t length, std::uint64_t asked) {
  if (asked != 0 && length >= asked) return asked;
  return length >= (1u << 20) ? 4096 : 8;
}

// Free space begins at multiples of 8. Lengths beyond 2^62 stay beyond 2^62: check the end.
class Placement {
 public:
  static constexpr std::uint64_t kLimit = std::uint64_t{1} << 62;

  // Places `length` bytes at the next multiple of `alignment`, a power of 2 from 8 on.
  static Placement of(std::uint64_t length, std::uint64_t alignment) {
    Placement one;
    one.alignment_ = alignment;
    (alignment > 8 ? one.behind_ : one.ahead_) = add(0, length);
    return one;
  }
  // Returns this placement followed by `next`.
  Placement then(const Placement& next) const {
    if (next.alignment_ == 8) {
      Placement both = *this;
      (alignment_ > 8 ? both.behind_ : both.ahead_) =
          add(alignment_ > 8 ? behind_ : ahead_, next.ahead_);
      return both;
    }
    if (alignment_ >= next.alignment_) {
      Placement both = *this;
      both.behind_ = add(round_up(add(behind_, next.ahead_), next.alignment_), next.behind_);
      return both;
    }
    // If bytes are first rounded up to the smaller alignment, they are a multiple of it before
    // `next`.
    Placement both = next;
    const std::uint64_t between = alignment_ > 8 ? add(behind_, next.ahead_) : next.ahead_;
    both.ahead_ = add(ahead_, alignment_ > 8 ? round_up(between, alignment_) : between);
    return both;
  }
  // Returns where free space begins afterwards if it begins at `start` before.
  std::uint64_t end(std::uint64_t start) const {
    const std::uint64_t at = add(start, ahead_);
    return alignment_ > 8 ? add(round_up(at, alignment_), behind_) : at;
  }

 private:
  static std::uint64_t add(std::uint64_t a, std::uint64_t b) {
    return std::min(a, 2 * kLimit) >= 2 * kLimit - std::min(b, 2 * kLimit) ? 2 * kLimit
                                                                           : round_up(a + b, 8);
  }
  // `ahead_` bytes; if alignment_ is more than 8, then padding to a multiple of it and `behind_`
  // bytes.
  std::uint64_t alignment_ = 8;
  std::uint64_t ahead_ = 0;
  std::uint64_t behind_ = 0;
};

}  // namespace nmb
