// Encodes and decodes the mark at byte 256, which states the last committed generation in a unit of
// its own (spec/format.md, section 5.2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

inline constexpr std::size_t kMarkSize = 64;

struct Mark {
  std::uint64_t generation = 0;
  std::uint64_t file_length = 0;     // file length of that generation
  std::uint64_t superblock_sum = 0;  // sum of all 4096 bytes of the generation's superblock
  Digest file_id;
  bool reserved_zero = true;

  std::array<std::byte, kMarkSize> encode() const;
  // Returns whether `bytes` begins with the magic of a mark. `bytes` must have at least 8 bytes.
  static bool has_magic(std::span<const std::byte> bytes);
  // Decodes a mark of kMarkSize bytes. Returns nullopt if the magic or the sum is wrong. Does not
  // check the file id.
  static std::optional<Mark> decode(std::span<const std::byte> bytes);
  // Reserved bytes are not compared, because a later version may use them.
  friend bool operator==(const Mark& a, const Mark& b) {
    return a.generation == b.generation && a.file_length == b.file_length &&
           a.superblock_sum == b.superblock_sum && a.file_id == b.file_id;
  }
};

}  // namespace nmb
