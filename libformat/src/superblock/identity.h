// The identity at byte 0 of a file (spec/format.md, section 4).
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "nmb/digest.h"
#include "nmb/finding.h"

namespace nmb {

inline constexpr std::size_t kIdentitySize = 512;
inline constexpr std::size_t kSlotUnit = 4096;
inline constexpr std::uint64_t kFirstSlot = 4096;
inline constexpr std::uint64_t kHdf5Position = 512;
inline constexpr std::size_t kHdf5Size = 48;
inline constexpr std::uint64_t kDictionaryPosition = 12288;
inline constexpr std::uint64_t kBodyStart = 16384;  // first byte of blocks, extents and pages

struct Identity {
  Digest file_id;         // zero where the sum is wrong
  bool supported = true;  // R-ID-3

  std::array<std::byte, kIdentitySize> encode() const;
  // Reports what breaks R-ID-1 to R-ID-4; false: unusable. `bytes`: kIdentitySize of them.
  static bool decode(std::span<const std::byte> bytes, Identity* identity, Findings& findings);
  static bool has_magic(std::span<const std::byte> bytes);
};

}  // namespace nmb
