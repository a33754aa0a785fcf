// Looking for bytes that should be zero and are not.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

namespace nmb {

inline constexpr std::size_t kAllZero = ~std::size_t{0};

// Index of the first byte other than zero, kAllZero if there is none.
inline std::size_t first_nonzero(std::span<const std::byte> bytes) {
  if (bytes.empty()) return kAllZero;
  // A run of zeros equals itself shifted by one byte: memcmp is the fastest scan there is.
  if (bytes[0] == std::byte{0} &&
      std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0)
    return kAllZero;
  std::size_t i = 0;
  while (bytes[i] == std::byte{0}) ++i;
  return i;
}

inline bool all_zero(std::span<const std::byte> bytes) { return first_nonzero(bytes) == kAllZero; }

}  // namespace nmb
