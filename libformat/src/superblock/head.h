// Head: what the first 16 KiB of a file, and where need be its end, say of the newest generation
// (spec/format.md, sections 3 to 5).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nmb/byte_source.h"
#include "nmb/finding.h"
#include "superblock/superblock.h"

namespace nmb {

struct Head {
  std::vector<std::byte> bytes;  // the first 16 KiB
  Superblock superblock;         // of the newest generation
  std::array<std::byte, kSlotUnit> superblock_bytes{};
  std::uint64_t position = 0;  // where that superblock was found: a slot, or the trailer
  bool rolled_forward = false;
  // Of the copy whose sum is right; empty if there is none.
  std::vector<std::byte> dictionary;
  std::span<const std::byte> dictionary_at_head() const {
    return std::span(bytes).subspan(kDictionaryPosition, superblock.dictionary.length);
  }
};

// The superblock of the newest generation (section 5.4).
struct Choice {
  std::uint64_t position = 0;  // a slot, or the trailer; 0: there is none
  std::array<std::byte, kSlotUnit> bytes{};
  bool rolled_forward = false;
};

// `head`: the first 16 KiB. identity_sound: R-ID-1 to R-ID-3 hold. Damaged slots (R-SB-1) go to
// `findings` with this severity. One read, and only if a slot is damaged.
Result<Choice> choose_superblock(const ByteSource& file, std::span<const std::byte> head,
                                 bool identity_sound, Severity severity, Findings& findings);

// The identity's magic stands at 512 or at 0, or a superblock's magic at 4096 or 8192.
bool is_nmb(std::span<const std::byte> first_bytes);

// Reads and chooses (section 5.4). Errors: kUnknownKind, kDamaged, kUnsupported (an incompatible
// feature, by its bit), kIo. Warnings and findings that do not hinder reading go to `findings`. One
// read, a second one only if a slot is damaged.
Result<Head> read_head(const ByteSource& file, Findings& findings);

}  // namespace nmb
