// The mark at byte 256: what was committed last, in a unit of its own (spec/format.md,
// section 5.2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "nmb/bytes.h"
#include "nmb/status.h"

namespace nmb {

inline constexpr std::size_t kMarkSize = 64;

struct Mark {
  std::uint64_t generation = 0;
  std::uint64_t file_length = 0;     // of that generation
  std::uint64_t superblock_sum = 0;  // of all 4096 bytes of its superblock
  Digest file_id;
  bool reserved_zero = true;

  std::array<std::byte, kMarkSize> encode() const;
  // `bytes`: at least 8.
  static bool has_magic(std::span<const std::byte> bytes);
  // nullopt: magic or sum are wrong. Whose file it is is not looked at. `bytes`: kMarkSize of them.
  static std::optional<Mark> decode(std::span<const std::byte> bytes);
  // Reserved bytes, of which a later version may use some, do not count.
  friend bool operator==(const Mark& a, const Mark& b) {
    return a.generation == b.generation && a.file_length == b.file_length &&
           a.superblock_sum == b.superblock_sum && a.file_id == b.file_id;
  }
};

}  // namespace nmb
