// Head: the newest generation of a file, from the first 16 KiB of the file and, if needed, from its
// end (spec/format.md, sections 3 to 5).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "superblock/choosing.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

struct Head {
  std::vector<std::byte> bytes;  // the first 16 KiB
  Superblock superblock;         // superblock of the newest generation
  std::array<std::byte, kSlotUnit> superblock_bytes{};
  std::uint64_t position = 0;  // position of the superblock's slot or trailer
  bool rolled_forward = false;
  // The dictionary; empty if the file has no copy with the right sum.
  std::vector<std::byte> dictionary;
  std::span<const std::byte> dictionary_at_head() const {
    return std::span(bytes).subspan(kDictionaryPosition, superblock.dictionary.length);
  }
};

// Creates the Head of the chosen generation. Checks the fields of the superblock, and that the file
// is not cut. Reports to `findings` all problems that do not prevent reading. Errors: kDamaged;
// kUnsupported if the file has an unknown incompatible feature (the message has its bit); kIo.
Result<Head> head_of(const ByteSource& file, Choice choice, Findings& findings);

// Chooses the newest generation as a reader does, and creates its Head. Reports to `findings`, as
// warnings, damage that does not prevent reading, a pending generation, and bytes after the newest
// generation. Errors: those of choose_newest() and head_of().
Result<Head> read_head(const ByteSource& file, Findings& findings);

// Replaces the superblock of a Head by that of an older generation, which the chain of previous
// trailers leads to (spec/format.md, section 5.1). Errors: kNotFound if the file has no such
// generation; kDamaged (R-SB-22); kIo.
Status go_back(const ByteSource& file, std::uint64_t generation, Head* head);

}  // namespace nmb
