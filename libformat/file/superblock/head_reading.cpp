#include "superblock/head_reading.h"

#include <algorithm>

#include "wire/hash.h"
#include "wire/joined_text.h"
#include "wire/zero.h"

namespace nmb {

namespace {

Status cut(const ByteSource& file, std::uint64_t size, std::uint64_t expected) {
  return Status(Code::kDamaged, file.name(), size, "R-FL-1",
                joined_text("cut: found ", size, " bytes, expected at least ", expected));
}

// Returns the file id from the identity, or from the cover if the identity is damaged. Errors:
// kUnsupported (R-ID-3).
Result<std::optional<Digest>> identity_in(std::span<const std::byte> head,
                                          const std::string& file) {
  for (const std::uint64_t at : {kIdentityPosition, kCoverPosition}) {
    FirstFinding wrong;
    Identity identity;
    if (Identity::decode(head.subspan(at, kIdentitySize), at, &identity, wrong))
      return std::optional(identity.file_id);
    if (!identity.supported) return wrong.status(file);
  }
  return std::optional<Digest>();
}

}  // namespace

std::uint64_t FoundSuperblock::sum() const { return sum_of(bytes); }

bool is_nmb(std::span<const std::byte> head) {
  const auto reaches = [&](std::uint64_t end) { return head.size() >= end; };
  for (const std::uint64_t at : {kIdentityPosition, kCoverPosition})
    if (reaches(at + 8) && Identity::has_magic(head.subspan(at))) return true;
  if (reaches(kMarkPosition + 8) && Mark::has_magic(head.subspan(kMarkPosition))) return true;
  for (const std::uint64_t slot : {kFirstSlot, kFirstSlot + kSlotUnit})
    if (reaches(slot + 8) && Superblock::has_magic(head.subspan(slot))) return true;
  return false;
}

Result<bool> has_structure_behind_head(const ByteSource& file) {
  std::array<std::byte, kStructureMagic.size()> first;
  if (file.size() < kBodyStart + first.size()) return false;
  NMB_TRY(file.read_at(kBodyStart, first));
  return first == kStructureMagic;
}

Result<HeadReading> HeadReading::take(const ByteSource& file) {
  HeadReading reading;
  reading.bytes.resize(std::min<std::uint64_t>(file.size(), kBodyStart));
  NMB_TRY(file.read_at(0, reading.bytes));
  NMB_ASSIGN(reading.size, file.refresh());
  const std::span<const std::byte> head(reading.bytes);
  bool ours = is_nmb(head);
  if (!ours) {
    NMB_ASSIGN(ours, has_structure_behind_head(file));
  }
  if (!ours) return Status(Code::kUnknownKind, file.name(), 0, "", "not an NMB file");
  if (head.size() < kBodyStart) return cut(file, head.size(), kMinFileLength);
  NMB_ASSIGN(reading.file_id, identity_in(head, file.name()));

  reading.mark = Mark::decode(head.subspan(kMarkPosition, kMarkSize));
  for (std::size_t i = 0; i < reading.slots.size(); ++i) {
    SlotReading& slot = reading.slots[i];
    slot.superblock.position = kFirstSlot + i * kSlotUnit;
    const auto bytes = head.subspan(slot.superblock.position, kSlotUnit);
    std::ranges::copy(bytes, slot.superblock.bytes.begin());
    slot.zero = all_zero(bytes);
    slot.valid = Superblock::valid(bytes);
    if (slot.valid) slot.superblock.fields = Superblock::fields_of(bytes);
  }
  if (!reading.file_id && reading.mark) reading.file_id = reading.mark->file_id;
  if (!reading.file_id)
    if (const SlotReading* newest = reading.newest())
      reading.file_id = newest->superblock.fields.file_id;
  if (reading.mark && reading.mark->file_id != reading.file_id) reading.mark.reset();
  for (SlotReading& slot : reading.slots) {
    const Superblock& fields = slot.superblock.fields;
    slot.valid = slot.valid && fields.file_id == reading.file_id && fields.generation != 0 &&
                 Superblock::slot_position(fields.generation) == slot.superblock.position;
  }
  return reading;
}

const SlotReading* HeadReading::newest() const {
  const SlotReading* newest = nullptr;
  for (const SlotReading& slot : slots)
    if (slot.valid &&
        (!newest || slot.superblock.fields.generation > newest->superblock.fields.generation))
      newest = &slot;
  return newest;
}

bool HeadReading::other_slot_fits(const FoundSuperblock& newest) const {
  const Superblock& fields = newest.fields;
  const SlotReading& other = slots[fields.generation % 2];
  if (fields.generation == 1) return other.zero;
  return other.valid && other.superblock.fields.generation == fields.generation - 1 &&
         other.superblock.sum() == fields.previous_trailer.sum;
}

bool HeadReading::mark_fits(const FoundSuperblock& newest) const {
  if (!mark) return false;
  const Superblock& fields = newest.fields;
  const Place& before = fields.previous_trailer;
  return *mark == Superblock::mark_of(newest.bytes) ||
         (fields.generation != 1 &&
          *mark ==
              Mark{fields.generation - 1, before.position + kSlotUnit, before.sum, fields.file_id});
}

bool HeadReading::settled() const {
  const SlotReading* g = newest();
  return g && size >= g->superblock.fields.file_length && mark_fits(g->superblock) &&
         other_slot_fits(g->superblock);
}

}  // namespace nmb
