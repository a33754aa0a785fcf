// The identity at byte 512 of a file, of which the cover may be a copy (spec/format.md, section 4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "nmb/bytes.h"
#include "nmb/status.h"

namespace nmb {

inline constexpr std::size_t kIdentitySize = 256;

struct Identity {
  Digest file_id;         // zero where the sum is wrong
  bool supported = true;  // R-ID-3

  std::array<std::byte, kIdentitySize> encode() const;
  // Reports what breaks R-ID-1 to R-ID-3; false: unusable. `bytes`: kIdentitySize of them, at
  // `position` in the file.
  static bool decode(std::span<const std::byte> bytes, std::uint64_t position, Identity* identity,
                     Findings& findings);
  // Reports what breaks R-ID-4, of a file whose features are all known.
  static void check_reserved(std::span<const std::byte> bytes, std::uint64_t position,
                             Findings& findings);
  static bool has_magic(std::span<const std::byte> bytes);
};

}  // namespace nmb
