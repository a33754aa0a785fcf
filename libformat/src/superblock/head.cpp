// What the head of a file says of the newest generation (see superblock/head.h).
#include "superblock/head.h"

#include <algorithm>

#include "block/block_header.h"
#include "superblock/identity.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/zero.h"

namespace nmb {

bool is_nmb(std::span<const std::byte> bytes) {
  for (std::uint64_t at : {kIdentityPosition, kCoverPosition})
    if (bytes.size() >= at + 8 && Identity::has_magic(bytes.subspan(at))) return true;
  for (std::uint64_t slot : {kFirstSlot, kFirstSlot + kSlotUnit})
    if (bytes.size() >= slot + 8 && Superblock::has_magic(bytes.subspan(slot))) return true;
  return false;
}

Result<Choice> choose_superblock(const ByteSource& file, std::span<const std::byte> head,
                                 bool identity_sound, Severity severity, Findings& findings) {
  auto generation_of = [](std::span<const std::byte> slot) {
    return load_le<std::uint64_t>(&slot[16]);
  };
  Choice choice;
  bool damaged = false, first_zero = false;
  for (std::uint64_t position : {kFirstSlot, kFirstSlot + kSlotUnit}) {
    auto slot = head.subspan(position, kSlotUnit);
    if (Superblock::valid(slot)) {
      if (choice.position != 0 && generation_of(slot) <= generation_of(choice.bytes)) continue;
      choice.position = position;
      std::copy(slot.begin(), slot.end(), choice.bytes.begin());
    } else if (!all_zero(slot)) {
      damaged = true;
      findings.report({"R-SB-1", position, "superblock slot", "neither zero nor valid",
                       "a valid superblock", severity});
    } else {
      first_zero |= position == kFirstSlot;
    }
  }
  if (choice.position == 0 && first_zero)
    findings.report(
        {"R-SB-1", kFirstSlot, "superblock slot", "no valid slot", "at least one", severity});
  if ((!damaged && choice.position != 0) || !identity_sound || file.size() < kMinFileLength)
    return choice;
  const std::uint64_t position = (file.size() / kSlotUnit - 1) * kSlotUnit;
  std::array<std::byte, kSlotUnit> trailer;
  NMB_TRY(file.read_at(position, trailer));
  if (Superblock::valid(trailer) && load_le<std::uint64_t>(&trailer[24]) == position + kSlotUnit &&
      (choice.position == 0 || generation_of(trailer) == generation_of(choice.bytes) + 1))
    return Choice{position, trailer, true};
  return choice;
}

// Section 8.3: either copy will do. With neither the bodies made with it cannot be read, but all
// else can.
static Status choose_dictionary(const ByteSource& file, Head& head, Findings& findings) {
  const Place& place = head.superblock.dictionary;
  if (place.absent()) return {};
  auto bytes = head.dictionary_at_head();
  head.dictionary.assign(bytes.begin(), bytes.end());
  if (sum_of(head.dictionary) == place.sum) return {};
  findings.report({"R-BK-13", kDictionaryPosition, "dictionary", "a wrong sum",
                   "the one in the superblock; its block has a copy", Severity::kWarning});
  const std::uint64_t copy = place.position + block_body_offset(0);
  if (copy > file.size() || place.length > file.size() - copy) {
    head.dictionary.clear();
    return {};
  }
  NMB_TRY(file.read_at(copy, head.dictionary));
  if (sum_of(head.dictionary) != place.sum) head.dictionary.clear();
  return {};
}

Result<Head> read_head(const ByteSource& file, Findings& findings) {
  Head head;
  const std::uint64_t size = file.size();
  head.bytes.resize(std::min<std::uint64_t>(size, kBodyStart));
  NMB_TRY(file.read_at(0, head.bytes));
  if (!is_nmb(head.bytes)) return Status(Code::kUnknownKind, file.name(), 0, "", "not an NMB file");
  if (size < kBodyStart)
    return Status(Code::kDamaged, file.name(), size, "R-FL-1",
                  "cut: found " + std::to_string(size) + " bytes, expected at least 20480");
  std::span<const std::byte> bytes(head.bytes);
  FirstFinding in_identity, first;
  Identity identity;
  if (!Identity::decode(bytes.subspan(kIdentityPosition, kIdentitySize), kIdentityPosition,
                        &identity, in_identity))
    return in_identity.status(file.name());
  NMB_ASSIGN(Choice choice, choose_superblock(file, bytes, true, Severity::kWarning, findings));
  if (choice.position == 0)
    return Status(Code::kDamaged, file.name(), kFirstSlot, "R-SB-1",
                  "no valid superblock: found neither slot nor trailer");
  head.position = choice.position;
  head.rolled_forward = choice.rolled_forward;
  head.superblock_bytes = choice.bytes;
  Superblock::decode(choice.bytes, head.position, &head.superblock, first);
  NMB_TRY(first.status(file.name()));
  if (std::string names = unsupported_features(head.superblock.incompatible); !names.empty())
    return Status(Code::kUnsupported, file.name(), head.position + in_superblock::kIncompatible,
                  "R-SB-6", "the file uses " + names + ", which this version does not read");
  if (head.superblock.file_length > size)
    return Status(Code::kDamaged, file.name(), size, "R-FL-1",
                  "cut: found " + std::to_string(size) + " bytes, expected " +
                      std::to_string(head.superblock.file_length));
  NMB_TRY(choose_dictionary(file, head, findings));
  return head;
}

}  // namespace nmb
