// The mark at byte 256, in a separate unit: the last committed generation (spec/format.md, section
// 5.2).
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
  // bytes: at least 8.
  static bool has_magic(std::span<const std::byte> bytes);
  // Returns nullopt if magic or sum are wrong. Does not compare the file id. bytes: kMarkSize
  // bytes.
  static std::optional<Mark> decode(std::span<const std::byte> bytes);
  // Reserved bytes, which a later version may use, do not count.
  friend bool operator==(const Mark& a, const Mark& b) {
    return a.generation == b.generation && a.file_length == b.file_length &&
           a.superblock_sum == b.superblock_sum && a.file_id == b.file_id;
  }
};

}  // namespace nmb
