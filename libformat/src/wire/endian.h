// Integers in bytes: little-endian for NMB's own structures, big-endian for classic headers.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nmb {

template <std::unsigned_integral T>
constexpr T byte_swapped(T value) {
  if constexpr (sizeof(T) == 1)
    return value;
  else if constexpr (sizeof(T) == 2)
    return __builtin_bswap16(value);
  else if constexpr (sizeof(T) == 4)
    return __builtin_bswap32(value);
  else
    return __builtin_bswap64(value);
}

template <std::unsigned_integral T>
T load_le(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return std::endian::native == std::endian::little ? value : byte_swapped(value);
}

template <std::unsigned_integral T>
T load_be(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return std::endian::native == std::endian::big ? value : byte_swapped(value);
}

template <std::unsigned_integral T>
void store_le(std::byte* to, T value) {
  if constexpr (std::endian::native != std::endian::little) value = byte_swapped(value);
  std::memcpy(to, &value, sizeof value);
}

template <std::unsigned_integral T>
void store_be(std::byte* to, T value) {
  if constexpr (std::endian::native != std::endian::big) value = byte_swapped(value);
  std::memcpy(to, &value, sizeof value);
}

// `count` values of `size` bytes, 1, 2, 4 or 8, in the other order. `to` may be `from`.
inline void swap_values(const std::byte* from, std::byte* to, std::size_t count, std::size_t size) {
  const auto swap = [&]<class T>(T value) {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(&value, from + i * sizeof value, sizeof value);
      value = byte_swapped(value);
      std::memcpy(to + i * sizeof value, &value, sizeof value);
    }
  };
  if (size == 2) swap(std::uint16_t{});
  if (size == 4) swap(std::uint32_t{});
  if (size == 8) swap(std::uint64_t{});
  if (size == 1 && from != to && count > 0) std::memcpy(to, from, count);
}

}  // namespace nmb
