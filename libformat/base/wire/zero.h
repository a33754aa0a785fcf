// Finds bytes that should be zero but are not.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

namespace nmb {

inline constexpr std::size_t kAllZero = ~std::size_t{0};

// Returns the index of the first byte other than zero, or kAllZero.
inline std::size_t first_nonzero(std::span<const std::byte> bytes) {
  if (bytes.empty()) return kAllZero;
  // If the first byte is zero and each byte equals the next byte, all bytes are zero. memcmp() is
  // the fastest way to compare the bytes.
  if (bytes[0] == std::byte{0} &&
      std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0)
    return kAllZero;
  std::size_t i = 0;
  while (bytes[i] == std::byte{0}) ++i;
  return i;
}

inline bool all_zero(std::span<const std::byte> bytes) { return first_nonzero(bytes) == kAllZero; }

}  // namespace nmb
