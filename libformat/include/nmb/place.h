// Place: where a structure lies and the sum of its bytes (spec/format.md, section 5).
#pragma once

#include <cstdint>

namespace nmb {

struct Place {
  std::uint64_t position = 0;
  std::uint64_t length = 0;
  std::uint64_t sum = 0;
  bool absent() const { return position == 0 && length == 0 && sum == 0; }
  friend bool operator==(const Place&, const Place&) = default;
};

}  // namespace nmb
