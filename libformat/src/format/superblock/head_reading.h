// HeadReading: the result of one reading of the head, and whether a commit may be in progress or
// something is damaged (spec/format.md, section 5.4).
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
  std::uint64_t position = 0;  // of a slot or a trailer
  std::array<std::byte, kSlotUnit> bytes{};
  Superblock fields;
  std::uint64_t sum() const;  // of all bytes, as in a place and in the mark
};

// Slot 0 or 1, as defined in section 5.4.
struct SlotReading {
  bool zero = false;
  bool valid = false;
  FoundSuperblock superblock;  // fields: only of a valid slot
};

struct HeadReading {
  std::vector<std::byte> bytes;  // the first 16 KiB
  std::uint64_t size = 0;        // of the file, queried after the head was read
  // Of the identity at 512 if its sum is right, otherwise of the copy in the cover, the mark or a
  // slot; nullopt: all are damaged.
  std::optional<Digest> file_id;
  std::optional<Mark> mark;  // only if it is valid
  std::array<SlotReading, 2> slots;

  // Reads once. Errors: kUnknownKind; kUnsupported (R-ID-3); kDamaged: cut within the head; kIo.
  static Result<HeadReading> take(const ByteSource& file);
  // Returns the valid slot of the highest generation, or nullptr.
  const SlotReading* newest() const;
  bool settled() const;
  // Returns whether the other slot is as in a settled state.
  bool other_slot_fits(const FoundSuperblock& newest) const;
  // Returns whether the mark is as in a settled state.
  bool mark_fits(const FoundSuperblock& newest) const;
};

// Returns whether the identity's magic is at 512 or 0, the mark's at 256, or a superblock's at 4096
// or 8192. head: at most the first 16 KiB of the file.
bool is_nmb(std::span<const std::byte> head);
// Returns whether a structure begins directly after the head, which identifies an NMB file that
// lost its head. Errors: kIo.
Result<bool> has_structure_behind_head(const ByteSource& file);

}  // namespace nmb
