// Head: the newest generation according to the first 16 KiB of a file and, if needed, its end
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
  std::uint64_t position = 0;  // position of that superblock: a slot or the trailer
  bool rolled_forward = false;
  // The copy with the right sum; empty if there is none.
  std::vector<std::byte> dictionary;
  std::span<const std::byte> dictionary_at_head() const {
    return std::span(bytes).subspan(kDictionaryPosition, superblock.dictionary.length);
  }
};

// Makes a head from a choice: checks the superblock's fields, and that the file is not cut.
// Problems that do not prevent reading go to `findings`. Errors: kDamaged, kUnsupported (an
// incompatible feature, by its bit), kIo.
Result<Head> head_of(const ByteSource& file, Choice choice, Findings& findings);

// Chooses as readers do, and checks. Damage that does not prevent reading, a pending generation and
// bytes after the newest generation go to `findings` as warnings. Errors: those of choose_newest()
// and head_of().
Result<Head> read_head(const ByteSource& file, Findings& findings);

}  // namespace nmb
