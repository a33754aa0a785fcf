// Head describes the newest generation of a file. The head is read from the first 16 KiB of the
// file and, if needed, from the file's end (spec/format.md, sections 3 to 5).
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
  Superblock superblock;         // superblock of the newest generation
  std::array<std::byte, kSlotUnit> superblock_bytes{};
  std::uint64_t position = 0;  // position of that superblock, in a slot or in the trailer
  bool rolled_forward = false;
  // The dictionary, from a copy with the right sum; empty if there is no such copy.
  std::vector<std::byte> dictionary;
  std::span<const std::byte> dictionary_at_head() const {
    return std::span(bytes).subspan(kDictionaryPosition, superblock.dictionary.length);
  }
};

// Makes a head from a choice of the newest generation. Checks the superblock's fields, and that the
// file is not cut. Reports problems that do not prevent reading to `findings`. Errors: kDamaged;
// kUnsupported, with the bit of an incompatible feature; kIo.
Result<Head> head_of(const ByteSource& file, Choice choice, Findings& findings);

// Chooses the newest generation like a reader, and makes its head. Reports as warnings to
// `findings`: damage that does not prevent reading, a pending generation, and bytes after the
// newest generation. Errors: those of choose_newest() and head_of().
Result<Head> read_head(const ByteSource& file, Findings& findings);

}  // namespace nmb
