// Loads and stores integers: little-endian for NMB's own structures, big-endian for classic
// headers.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
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

}  // namespace nmb
