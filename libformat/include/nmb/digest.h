// Digest: XXH3-128, which decides equality of metadata (spec/format.md, section 1).
#pragma once

#include <compare>
#include <cstdint>

namespace nmb {

struct Digest {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend auto operator<=>(const Digest&, const Digest&) = default;
  bool is_zero() const { return low == 0 && high == 0; }
};

}  // namespace nmb
