// HeadReading: the result of reading the head once. If the head is not settled, a commit may be in
// progress or something is damaged (spec/format.md, section 5.4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "superblock/identity.h"
#include "superblock/mark.h"
#include "superblock/superblock.h"
#include "wire/bytes.h"

namespace nmb {

// A superblock with its bytes.
struct FoundSuperblock {
  std::uint64_t position = 0;  // position of a slot or a trailer
  std::vector<std::byte> bytes = std::vector<std::byte>(kSlotUnit);
  Superblock fields;
  std::uint64_t sum() const;  // sum of all bytes; places and the mark state this sum
};

// The state of slot 0 or slot 1, in the terms of section 5.4.
struct SlotReading {
  bool zero = false;
  bool valid = false;
  FoundSuperblock superblock;  // `fields` is set only for a valid slot
};

struct HeadReading {
  std::vector<std::byte> bytes;  // the first 16 KiB
  std::uint64_t size = 0;        // length of the file, queried after the head was read
  // The file id, from the identity at byte 512 or, if its sum is wrong, from the copy in the cover,
  // from the mark or from a slot; nullopt if all of them are damaged.
  std::optional<Digest> file_id;
  std::optional<Mark> mark;  // nullopt if the mark is not valid
  std::array<SlotReading, 2> slots;

  // Reads the head once. Errors: kUnknownKind; kUnsupported (R-ID-3); kDamaged if the file is cut
  // within the head; kIo.
  static Result<HeadReading> take(const ByteSource& file);
  // Returns the valid slot with the highest generation, or nullptr if no slot is valid.
  const SlotReading* newest() const;
  bool settled() const;
  // Returns whether the slot that does not belong to `newest` has the contents that a settled state
  // requires.
  bool other_slot_fits(const FoundSuperblock& newest) const;
  // Returns whether the mark has the contents that a settled state requires.
  bool mark_fits(const FoundSuperblock& newest) const;
};

// Returns whether a head contains the magic of an identity (at byte 512 or 0), of a mark (at byte
// 256) or of a superblock (at byte 4096 or 8192). head: at most the first 16 KiB of the file.
bool is_nmb(std::span<const std::byte> head);
// Returns whether a structure begins directly after the head, which shows that a file is an NMB
// file even if its head is lost. Errors: kIo.
Result<bool> has_structure_behind_head(const ByteSource& file);

}  // namespace nmb
