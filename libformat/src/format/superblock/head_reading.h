// HeadReading is the result of one reading of the head. The result says whether the head is
// settled. If not, a commit may be in progress or something is damaged (spec/format.md, section
// 5.4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "format/superblock/identity.h"
#include "format/superblock/mark.h"
#include "format/superblock/superblock.h"
#include "nmb/bytes.h"

namespace nmb {

// A superblock with its bytes.
struct FoundSuperblock {
  std::uint64_t position = 0;  // position of a slot or a trailer
  std::array<std::byte, kSlotUnit> bytes{};
  Superblock fields;
  std::uint64_t sum() const;  // sum of all bytes, as in a place and in the mark
};

// The state of slot 0 or 1, in the terms of section 5.4.
struct SlotReading {
  bool zero = false;
  bool valid = false;
  FoundSuperblock superblock;  // `fields` is set only for a valid slot
};

struct HeadReading {
  std::vector<std::byte> bytes;  // the first 16 KiB
  std::uint64_t size = 0;        // length of the file, queried after the head was read
  // The file id: from the identity at 512 if its sum is right, otherwise from the copy in the
  // cover, the mark or a slot. Is nullopt if all of these are damaged.
  std::optional<Digest> file_id;
  std::optional<Mark> mark;  // nullopt if the mark is not valid
  std::array<SlotReading, 2> slots;

  // Reads the head once. Errors: kUnknownKind; kUnsupported (R-ID-3); kDamaged if the file is cut
  // within the head; kIo.
  static Result<HeadReading> take(const ByteSource& file);
  // Returns the valid slot of the highest generation, or nullptr.
  const SlotReading* newest() const;
  bool settled() const;
  // Returns whether the slot that does not belong to `newest` is as a settled state requires.
  bool other_slot_fits(const FoundSuperblock& newest) const;
  // Returns whether the mark is as a settled state requires.
  bool mark_fits(const FoundSuperblock& newest) const;
};

// Returns whether a head has at least one of these magics: the identity's at 512 or 0, the mark's
// at 256, or a superblock's at 4096 or 8192. `head` is at most the first 16 KiB of the file.
bool is_nmb(std::span<const std::byte> head);
// Returns whether a structure begins directly after the head. By this, an NMB file is recognized
// even if its head is lost. Errors: kIo.
Result<bool> has_structure_behind_head(const ByteSource& file);

}  // namespace nmb
