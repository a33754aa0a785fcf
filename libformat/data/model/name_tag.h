// Computes the tag of a name in a NameTable.
#pragma once

// XXH3 is inlined, because a call through the dynamic linker costs as much as hashing a short name.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <random>
#include <string_view>

namespace nmb {

// Returns the tag of a name. `owner` distinguishes equal names in one table. Each process has a
// random seed, so that no file can contain names that all collide. No output depends on the seed.
inline std::uint32_t tag_of(std::string_view name, std::uint32_t owner = 0) {
  static const std::uint64_t seed = [] {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
  }();
  return static_cast<std::uint32_t>(XXH3_64bits_withSeed(name.data(), name.size(), seed + owner) >>
                                    32);
}

}  // namespace nmb
