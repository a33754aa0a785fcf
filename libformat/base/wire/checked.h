// Arithmetic on sizes from a file. The functions return false if the result would overflow.
#pragma once

#include <cstdint>

namespace nmb {

[[nodiscard]] inline bool checked_add(std::uint64_t a, std::uint64_t b, std::uint64_t* sum) {
  return !__builtin_add_overflow(a, b, sum);
}

[[nodiscard]] inline bool checked_mul(std::uint64_t a, std::uint64_t b, std::uint64_t* product) {
  return !__builtin_mul_overflow(a, b, product);
}

// Rounds a value up to a multiple of `unit`, which must be a power of two. Returns false if the
// multiple does not fit into 64 bits.
[[nodiscard]] inline bool checked_round_up(std::uint64_t value, std::uint64_t unit,
                                           std::uint64_t* rounded) {
  if (__builtin_add_overflow(value, unit - 1, rounded)) return false;
  *rounded &= ~(unit - 1);
  return true;
}

// Rounds up without a check, for values that are known to be far from the 64-bit limit.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) & ~(unit - 1);
}

}  // namespace nmb
