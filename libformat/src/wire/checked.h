// Arithmetic on sizes from a file: functions return false instead of overflowing.
#pragma once

#include <cstdint>

namespace nmb {

[[nodiscard]] inline bool checked_add(std::uint64_t a, std::uint64_t b, std::uint64_t* sum) {
  return !__builtin_add_overflow(a, b, sum);
}

[[nodiscard]] inline bool checked_mul(std::uint64_t a, std::uint64_t b, std::uint64_t* product) {
  return !__builtin_mul_overflow(a, b, product);
}

// Computes the next multiple of `unit` (a power of two). Returns false past the largest 64-bit
// multiple.
[[nodiscard]] inline bool checked_round_up(std::uint64_t value, std::uint64_t unit,
                                           std::uint64_t* rounded) {
  if (__builtin_add_overflow(value, unit - 1, rounded)) return false;
  *rounded &= ~(unit - 1);
  return true;
}

// For values known to be far from the limit.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) & ~(unit - 1);
}

}  // namespace nmb
