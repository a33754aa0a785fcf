// Placement: a sequence of allocations whose position is not known yet. end() takes the position
// where free space begins before the allocations, and returns the position where it begins after
// them. Two placements can be joined, so one scan over the ranks computes the positions of all
// ranks (spec/format.md, section 8).
#pragma once

#include <algorithm>
#include <cstdint>

#include "wire/checked.h"

namespace nmb {

// Returns the alignment in bytes of an extent or piece of this length (spec/format.md, section 8).
// asked: the requested alignment, a power of 2 of at least 4096, or 0 for the default. The
// requested alignment is used only if `length` is at least `asked` bytes.
constexpr std::uint64_t extent_alignment(std::uint64_t length, std::uint64_t asked) {
  if (asked != 0 && length >= asked) return asked;
  return length >= (1u << 20) ? 4096 : 8;
}

// Free space always begins at a multiple of 8. If an allocation ends after 2^62, all later ones do
// too, so it is enough to check the end of the last allocation.
class Placement {
 public:
  static constexpr std::uint64_t kLimit = std::uint64_t{1} << 62;

  // Places `length` bytes at the next multiple of `alignment`, a power of 2 of at least 8.
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
    // `between` bytes lie between the two aligned positions. Rounding `between` up to the smaller
    // alignment does not change the second aligned position, which is also a multiple of the
    // smaller alignment. The padding before the first aligned position is shorter than the smaller
    // alignment and need not be counted.
    Placement both = next;
    const std::uint64_t between = alignment_ > 8 ? add(behind_, next.ahead_) : next.ahead_;
    both.ahead_ = add(ahead_, alignment_ > 8 ? round_up(between, alignment_) : between);
    return both;
  }
  // Returns where free space begins after the allocations, if it begins at `start` before them.
  std::uint64_t end(std::uint64_t start) const {
    const std::uint64_t at = add(start, ahead_);
    return alignment_ > 8 ? add(round_up(at, alignment_), behind_) : at;
  }

 private:
  static std::uint64_t add(std::uint64_t a, std::uint64_t b) {
    return std::min(a, 2 * kLimit) >= 2 * kLimit - std::min(b, 2 * kLimit) ? 2 * kLimit
                                                                           : round_up(a + b, 8);
  }
  // If alignment_ is 8, the allocations are `ahead_` bytes. If alignment_ is more than 8, the
  // allocations are `ahead_` bytes, padding to a multiple of alignment_, and `behind_` bytes.
  std::uint64_t alignment_ = 8;
  std::uint64_t ahead_ = 0;
  std::uint64_t behind_ = 0;
};

}  // namespace nmb
