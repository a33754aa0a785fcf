// Open addressing from names to indices: 8-byte slots of tag << 32 | index + 1, at most 7/8 full.
// The tag's high bits are the first place to look, so growing copies in order and reads no name.
#pragma once

#include <xxhash.h>

#include <bit>
#include <cstdint>
#include <random>
#include <string_view>

#include "nmb/grow_array.h"

namespace nmb::name_table {

inline constexpr std::uint32_t kAbsent = ~std::uint32_t{0};
// Up to here a linear search is as fast and needs no table.
inline constexpr std::uint32_t kLinear = 32;

using Slots = GrowArray<std::uint64_t>;

// Drawn once a process: a file cannot be made of names that all collide. Nothing that is written
// depends on it.
inline std::uint64_t seed() {
  static const std::uint64_t drawn = [] {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
  }();
  return drawn;
}

// `owner` tells apart equal names in one table.
inline std::uint32_t tag_of(std::string_view name, std::uint32_t owner = 0) {
  return static_cast<std::uint32_t>(
      XXH3_64bits_withSeed(name.data(), name.size(), seed() + owner) >> 32);
}

inline std::uint32_t first_place(const Slots& slots, std::uint32_t tag) {
  const auto bits = static_cast<unsigned>(std::countr_zero(slots.size()));
  return static_cast<std::uint32_t>(std::uint64_t{tag} >> (32 - bits));
}

// The index under `tag` for which same(index), or kAbsent.
template <class Same>
std::uint32_t find(const Slots& slots, std::uint32_t tag, Same same) {
  if (slots.empty()) return kAbsent;
  const std::uint32_t mask = slots.size() - 1;
  for (std::uint32_t place = first_place(slots, tag); slots[place] != 0;
       place = (place + 1) & mask) {
    if (slots[place] >> 32 != tag) continue;
    const auto index = static_cast<std::uint32_t>(slots[place]) - 1;
    if (same(index)) return index;
  }
  return kAbsent;
}

inline void place_slot(Slots& slots, std::uint64_t slot) {
  const std::uint32_t mask = slots.size() - 1;
  std::uint32_t place = first_place(slots, static_cast<std::uint32_t>(slot >> 32));
  while (slots[place] != 0) place = (place + 1) & mask;
  slots[place] = slot;
}

// Room for one index more than the `used` there are.
inline void reserve_one(Slots& slots, std::uint32_t used) {
  const std::uint64_t size = slots.size();
  if ((std::uint64_t{used} + 1) * 8 <= size * 7) return;
  Slots grown;
  grown.append_zeros(size == 0 ? 2 * kLinear : 2 * size);
  for (const std::uint64_t slot : slots)
    if (slot != 0) place_slot(grown, slot);
  slots.swap(grown);
}

// After reserve_one; the index must not be there.
inline void insert(Slots& slots, std::uint32_t tag, std::uint32_t index) {
  place_slot(slots, std::uint64_t{tag} << 32 | (index + 1));
}

}  // namespace nmb::name_table
