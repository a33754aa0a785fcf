// HeadReading: what one reading of the head says, and whether a commit may be at work or something
// is damaged (spec/format.md, section 5.4).
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

// A superblock with the bytes that it was read from.
struct FoundSuperblock {
  std::uint64_t position = 0;  // a slot, or where a trailer lies
  std::array<std::byte, kSlotUnit> bytes{};
  Superblock fields;
  std::uint64_t sum() const;  // of all bytes, as in a place and in the mark
};

// Slot 0 or 1, as section 5.4 sees it.
struct SlotReading {
  bool zero = false;
  bool valid = false;
  FoundSuperblock superblock;  // fields: of a valid one
};

struct HeadReading {
  std::vector<std::byte> bytes;  // the first 16 KiB
  std::uint64_t size = 0;        // of the file, asked for after that
  // Of the identity at 512 if its sum is right, else of the copy in the cover, the mark or a slot;
  // nullopt: all are damaged.
  std::optional<Digest> file_id;
  std::optional<Mark> mark;  // a valid one
  std::array<SlotReading, 2> slots;

  // One read. kUnknownKind; kUnsupported (R-ID-3); kDamaged: cut within the head; kIo.
  static Result<HeadReading> take(const ByteSource& file);
  // The valid slot of the highest generation; nullptr: none is valid.
  const SlotReading* newest() const;
  bool settled() const;
  // Whether the slot that is not the newest generation's is as a settled state has it.
  bool other_slot_fits(const FoundSuperblock& newest) const;
  // Whether the mark is one of a settled state.
  bool mark_fits(const FoundSuperblock& newest) const;
};

// Whether the identity's magic stands at 512 or at 0, the mark's at 256, or a superblock's at 4096
// or 8192. `head`: the first 16 KiB, or what there is of them.
bool is_nmb(std::span<const std::byte> head);
// Whether a structure begins behind the head, which tells of NMB where the head is lost. Errors:
// kIo.
Result<bool> has_structure_behind_head(const ByteSource& file);

}  // namespace nmb
