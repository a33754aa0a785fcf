// The header of a block, which lies before the block's body and identifies the block
// (spec/format.md, section 8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "page/origin.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

inline constexpr std::size_t kBlockHeaderSize = 152;
// Offsets in bytes of the fields of a block's header.
namespace in_block_header {
inline constexpr std::size_t kCodec = 9, kKind = 10, kFlags = 12, kNameLength = 14, kFileId = 16,
                             kPosition = 32, kGeneration = 40, kStoredLength = 48, kRawLength = 56,
                             kExtentPosition = 64, kExtentLength = 72, kExtentSum = 80,
                             kRecords = 88, kSamples = 96, kOrder = 104, kDigest = 112,
                             kBodySum = 128, kStamp = 136, kSum = 144;
}

inline constexpr std::uint16_t kFlagTombstone = 1;
inline constexpr std::uint16_t kFlagHole = 2;
// The extent had a data map when the header was written.
inline constexpr std::uint16_t kFlagMap = 4;
inline constexpr std::uint16_t kKindDictionary = 255;
inline constexpr std::size_t kMaxDictionary = 4096;

enum class BodyCodec : std::uint16_t { kNone = 0, kZstd = 1, kZstdDictionary = 2 };

// Returns the number of bytes from the start of a block to its body.
constexpr std::uint64_t block_body_offset(std::uint64_t name_length) {
  return kBlockHeaderSize + ((name_length + 7) & ~std::uint64_t{7});
}
// Returns the number of bytes of a whole block: header, name, body, padding.
constexpr std::uint64_t block_length(std::uint64_t name_length, std::uint64_t stored) {
  return block_body_offset(name_length) + ((stored + 7) & ~std::uint64_t{7});
}

struct BlockHeader {
  std::uint8_t codec = 0;
  std::uint16_t kind = 0;
  std::uint16_t flags = 0;
  Origin origin;
  std::uint64_t position = 0;
  std::uint64_t stored_length = 0;
  std::uint64_t raw_length = 0;
  std::uint16_t name_length = 0;
  std::uint64_t extent_position = 0;
  std::uint64_t extent_length = 0;
  std::uint64_t extent_sum = 0;
  std::uint64_t records = 0;
  std::uint64_t samples = 0;
  std::uint64_t order = 0;
  Digest digest;
  std::uint64_t body_sum = 0;
  std::uint64_t sum = 0;  // set by encode() and decode()

  // Writes header, name and padding to `out`, which has block_body_offset(name.size()) bytes, and
  // sets name_length and sum. `name` has at most 65,535 bytes.
  void encode(std::string_view name, std::span<std::byte> out);
  // Decodes the header at the beginning of `bytes`, which begin at position `at` of the file.
  // Checks R-BK-1, R-BK-2 (only the header's own sum) and R-BK-5. *name becomes a view of `bytes`.
  // Returns false if the header cannot be used.
  static bool decode(std::span<const std::byte> bytes, std::uint64_t at, BlockHeader* header,
                     std::string_view* name, Findings& findings);
};

}  // namespace nmb
