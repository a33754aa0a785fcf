// A generation's superblock, and the choice of the newest one (spec/format.md, section 5).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nmb/byte_source.h"
#include "nmb/digest.h"
#include "nmb/finding.h"
#include "nmb/place.h"
#include "nmb/totals.h"
#include "superblock/identity.h"

namespace nmb {

// Feature bits (spec/format.md, section 13).
inline constexpr std::uint64_t kFeatureZstdBody = 1 << 0;
inline constexpr std::uint64_t kFeatureDictionary = 1 << 1;
inline constexpr std::uint64_t kFeatureExtendedBody = 1 << 2;
inline constexpr std::uint64_t kFeatureChunked = 1 << 3;
inline constexpr std::uint64_t kFeatureExternal = 1 << 4;
inline constexpr std::uint64_t kFeaturePieceCodec = 1 << 5;
inline constexpr std::uint64_t kSupportedIncompatible = kFeatureZstdBody | kFeatureDictionary |
                                                        kFeatureExtendedBody | kFeatureExternal |
                                                        kFeaturePieceCodec;
inline constexpr std::uint64_t kFeatureView = 1 << 0;        // read-only compatible
inline constexpr std::uint64_t kFeatureStatistics = 1 << 0;  // compatible
inline constexpr std::uint64_t kFeatureTags = 1 << 1;
inline constexpr std::uint64_t kFeatureGlobalSections = 1 << 2;

inline constexpr std::uint32_t kDefaultPieceSize = 1 << 20;
inline constexpr std::uint32_t kMaxInline = 65536;
inline constexpr std::size_t kMaxDictionary = 4096;
inline constexpr std::uint32_t kMaxHeight = 10;

struct Superblock {
  std::uint64_t generation = 0;
  std::uint64_t file_length = 0;
  std::uint64_t compatible = 0;
  std::uint64_t readonly_compatible = 0;
  std::uint64_t incompatible = 0;
  std::uint64_t root_position = 0;
  std::uint32_t root_length = 0;
  std::uint32_t height = 0;
  Digest root_digest;
  Totals totals;
  Place dead_map;
  Place file_table;
  Place global_sections;
  Place view;
  Place previous_trailer;
  std::array<std::byte, kHdf5Size> hdf5{};
  Place dictionary;
  std::uint32_t piece_size = kDefaultPieceSize;
  std::uint32_t inline_limit = 0;
  std::uint64_t next_order = 0;

  // Position of the slot of a generation.
  static constexpr std::uint64_t slot_position(std::uint64_t generation) {
    return kFirstSlot + ((generation - 1) % 2) * kSlotUnit;
  }
  std::array<std::byte, kSlotUnit> encode() const;
  // Magic, version and sum are right: only then decode.
  static bool valid(std::span<const std::byte> bytes);
  static bool has_magic(std::span<const std::byte> bytes);
  // `position`: of the bytes in the file, for messages. Reports all that breaks R-SB-4, R-SB-5,
  // R-SB-7, R-SB-9 (shape) and R-SB-11.
  static void decode(std::span<const std::byte> bytes, std::uint64_t position, Superblock* out,
                     Findings& findings);
  bool usable_length() const;      // R-SB-4
  bool usable_root() const;        // R-SB-7: there is a root
  bool usable_piece_size() const;  // R-SB-11
};

// What the first 16 KiB of a file (and, if need be, its last 4 KiB) say.
struct Head {
  std::vector<std::byte> bytes;  // the first 16 KiB
  Identity identity;
  Superblock superblock;       // of the newest generation
  std::uint64_t position = 0;  // where that superblock was found: a slot, or the trailer
  bool rolled_forward = false;
  // Of the copy whose sum is right; empty if there is none.
  std::vector<std::byte> dictionary;
  std::span<const std::byte> dictionary_at_head() const {
    return std::span(bytes).subspan(kDictionaryPosition, superblock.dictionary.length);
  }
};

// The superblock of the newest generation (section 5, "Choosing").
struct Choice {
  std::uint64_t position = 0;  // a slot, or the trailer; 0: there is none
  std::array<std::byte, kSlotUnit> bytes{};
  bool rolled_forward = false;
};

// `head`: the first 16 KiB. identity_sound: R-ID-1 to R-ID-3 hold. Damaged slots (R-SB-1) go to
// `findings` with this severity. One read, and only if a slot is damaged.
Result<Choice> choose_superblock(const ByteSource& file, std::span<const std::byte> head,
                                 bool identity_sound, Severity severity, Findings& findings);

// A superblock's magic stands at 4096 or 8192, or the identity's magic at 0.
bool is_nmb(std::span<const std::byte> first_bytes);

// Reads and chooses (section 5, "Choosing"). Errors: kUnknownKind, kDamaged, kUnsupported (an
// incompatible feature, by name), kIo. Warnings and findings that do not hinder reading go to
// `findings`. One read, a second one only if a slot is damaged.
Result<Head> read_head(const ByteSource& file, Findings& findings);

// "compressed metadata", ...: names of the incompatible features in `mask` that this version does
// not support.
std::string unsupported_features(std::uint64_t mask);

}  // namespace nmb
