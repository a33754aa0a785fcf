// Head: what the first 16 KiB of a file, and where need be its end, say of the newest generation
// (spec/format.md, sections 3 to 5).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "format/superblock/choosing.h"
#include "nmb/bytes.h"
#include "nmb/status.h"

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

// Of a choice: the superblock's fields are checked, and the file is not cut. Errors: kDamaged,
// kUnsupported (an incompatible feature, by its bit), kIo. What does not hinder reading goes to
// `findings`.
Result<Head> head_of(const ByteSource& file, Choice choice, Findings& findings);

// Chooses, as readers do, and checks. Errors: those of choose_newest() and of head_of(). What is
// damaged and does not hinder reading, what is pending and what lies behind go to `findings` as
// warnings.
Result<Head> read_head(const ByteSource& file, Findings& findings);

}  // namespace nmb
