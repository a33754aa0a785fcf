// Encodes and decodes a generation's superblock, which is stored in the generation's slot and in
// its trailer (spec/format.md, section 5.1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "page/origin.h"
#include "page/page.h"
#include "superblock/features.h"
#include "superblock/head_layout.h"
#include "superblock/identity.h"
#include "superblock/mark.h"
#include "wire/block_entry.h"
#include "wire/bytes.h"
#include "wire/failure.h"
#include "wire/place.h"

namespace nmb {

inline constexpr std::uint32_t kDefaultPieceSize = 1 << 20;
inline constexpr std::uint32_t kMaxInline = 65536;
// With one row in each page, each level would have as many pages as the level below it, and the
// tree would never reach a root.
inline constexpr std::uint32_t kMinPageRows = 2;
inline constexpr std::uint32_t kMaxPageRows = 65536;
inline constexpr std::uint32_t kMaxHeight = 10;
inline constexpr std::uint64_t kMinFileLength = kBodyStart + kSlotUnit;

inline constexpr std::size_t kPlaceSize = 24;  // bytes of a place

// Offsets in bytes of the fields of a superblock.
namespace in_superblock {
inline constexpr std::size_t kUsed = 10, kFlags = 12, kGeneration = 16, kFileLength = 24,
                             kCompatible = 32, kReadonlyCompatible = 40, kIncompatible = 48,
                             kNeeds = 56, kFileId = 64, kStamp = 80, kRootPosition = 88,
                             kRootLength = 96, kHeight = 100, kRootDigest = 104, kTotals = 120,
                             kPreviousTrailer = 168, kDeadMap = 192, kFileTable = 216,
                             kGrowth = 240, kGlobalSections = 264, kStatistics = 288, kTags = 312,
                             kDictionary = 336, kView = 360, kHdf5 = 384, kIndexPosition = 432,
                             kIndexLength = 440, kNextOrder = 448, kPieceSize = 456,
                             kInlineLimit = 460, kLeafRows = 464, kNodeRows = 468, kMapRows = 472,
                             kReserved = 476, kLaterPlaces = 512;
}  // namespace in_superblock

struct Superblock {
  std::uint64_t generation = 0;
  std::uint64_t file_length = 0;
  std::uint64_t compatible = 0;
  std::uint64_t readonly_compatible = 0;
  std::uint64_t incompatible = 0;
  std::uint64_t needs = 0;
  Digest file_id;
  std::uint64_t stamp = 0;
  std::uint64_t root_position = 0;
  std::uint32_t root_length = 0;
  std::uint32_t height = 0;
  Digest root_digest;
  Totals totals;
  Place previous_trailer;
  Place dead_map;
  Place file_table;
  Place growth;
  Place global_sections;
  Place statistics;
  Place tags;
  Place dictionary;
  Place view;
  std::array<std::byte, kHdf5Size> hdf5{};
  std::uint64_t index_position = 0;
  std::uint64_t index_length = 0;
  std::uint64_t next_order = 0;
  std::uint32_t piece_size = kDefaultPieceSize;
  std::uint32_t inline_limit = 0;
  std::uint32_t leaf_rows = 64;
  std::uint32_t node_rows = 128;
  std::uint32_t map_rows = 128;
  std::vector<Place>
      later_places;  // places of structures of later versions; their number is in the field `used`

  static constexpr std::uint64_t slot_position(std::uint64_t generation) {
    return kFirstSlot + ((generation - 1) % 2) * kSlotUnit;
  }
  std::uint64_t trailer_position() const { return file_length - kSlotUnit; }
  std::array<std::byte, kSlotUnit> encode() const;
  // Returns whether magic, version and sum are right. Call this before decode().
  static bool valid(std::span<const std::byte> bytes);
  static bool has_magic(std::span<const std::byte> bytes);
  // Decodes a superblock at `position` of the file. Reports all violations of R-SB-4, R-SB-5,
  // R-SB-7, R-SB-11, R-SB-17 and R-SB-19, and the violations of R-SB-9 and R-SB-15 that the
  // superblock's own bytes show.
  static void decode(std::span<const std::byte> bytes, std::uint64_t position, Superblock* out,
                     Findings& findings);
  bool usable_length() const;      // whether R-SB-4 is satisfied
  bool usable_root() const;        // whether there is a root, and R-SB-7 and R-SB-19 are satisfied
  bool usable_piece_size() const;  // whether R-SB-11 is satisfied for the piece size
  // Returns whether this version knows all bits of the four masks. Only then must reserved bytes be
  // zero.
  bool all_known() const;

  // Returns the properties that pages and block headers of this generation repeat.
  Origin origin() const { return {file_id, generation, stamp}; }
  // Returns the properties that a page with this use must have, without position, length and sum.
  PageExpectation expectation(PageUse use, std::uint16_t level = 0) const;
  // Returns the mark of a generation. bytes: its valid superblock.
  static Mark mark_of(std::span<const std::byte> bytes);
  // Decodes a superblock like decode(), but reports no findings.
  static Superblock fields_of(std::span<const std::byte> bytes);
  // Returns the cover of this generation in a file with this identity.
  std::array<std::byte, kIdentitySize> cover(std::span<const std::byte> identity) const;
};

}  // namespace nmb
