// ByteRange: a range of bytes of a file or of an extent.
#pragma once

#include <cstdint>

namespace nmb {

struct ByteRange {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t length() const { return end - begin; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

}  // namespace nmb
