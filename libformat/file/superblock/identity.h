// Encodes and decodes the identity at byte 512 of a file. The cover may be a copy of the identity
// (spec/format.md, section 4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

inline constexpr std::size_t kIdentitySize = 256;

struct Identity {
  Digest file_id;         // zero if the sum is wrong
  bool supported = true;  // whether R-ID-3 is satisfied

  std::array<std::byte, kIdentitySize> encode() const;
  // Decodes an identity of kIdentitySize bytes at `position` of the file, and reports violations of
  // R-ID-1 to R-ID-3. Returns false if the identity cannot be used.
  static bool decode(std::span<const std::byte> bytes, std::uint64_t position, Identity* identity,
                     Findings& findings);
  // Reports violations of R-ID-4. Call this only for a file whose features are all known.
  static void check_reserved(std::span<const std::byte> bytes, std::uint64_t position,
                             Findings& findings);
  static bool has_magic(std::span<const std::byte> bytes);
};

}  // namespace nmb
