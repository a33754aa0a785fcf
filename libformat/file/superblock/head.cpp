#include "superblock/head.h"

#include <algorithm>
#include <string>
#include <utility>

#include "block/block_header.h"
#include "wire/hash.h"

namespace nmb {

// Chooses a copy of the dictionary that has the right sum (section 8.3). If both copies are
// damaged, bodies that were compressed with the dictionary cannot be read.
static Status choose_dictionary(const ByteSource& file, Head& head, Findings& findings) {
  const Place& place = head.superblock.dictionary;
  if (place.absent()) return {};
  auto bytes = head.dictionary_at_head();
  head.dictionary.assign(bytes.begin(), bytes.end());
  const std::uint64_t sum = sum_of(head.dictionary);
  if (sum == place.sum) return {};
  findings.report({"R-BK-13", kDictionaryPosition, "dictionary", sum_text(sum),
                   sum_text(place.sum) + "; its block has a copy", Severity::kWarning});
  const std::uint64_t copy = place.position + block_body_offset(0);
  if (place.length > kMaxDictionary || copy > head.superblock.file_length ||
      place.length > head.superblock.file_length - copy) {
    head.dictionary.clear();
    return {};
  }
  NMB_TRY(file.read_at(copy, head.dictionary));
  if (sum_of(head.dictionary) != place.sum) head.dictionary.clear();
  return {};
}

Result<Head> head_of(const ByteSource& file, Choice choice, Findings& findings) {
  NMB_TRY(choice.lost);
  Head head;
  head.position = choice.newest.position;
  head.rolled_forward = choice.rolled_forward;
  FirstFinding first;
  Superblock::decode(choice.newest.bytes, head.position, &head.superblock, first);
  NMB_TRY(first.status(file.name()));
  if (std::string names = unsupported_features(head.superblock.incompatible); !names.empty())
    return Status(Code::kUnsupported, file.name(), head.position + in_superblock::kIncompatible,
                  "R-SB-6", "the file uses " + names + ", which this version does not read");
  NMB_TRY(check_not_cut(file, choice));
  std::ranges::copy(choice.newest.bytes, head.superblock_bytes.begin());
  head.bytes = std::move(choice.reading.bytes);
  NMB_TRY(choose_dictionary(file, head, findings));
  return head;
}

namespace {

// Reads the superblock of the generation before `current`, from its trailer.
Result<FoundSuperblock> superblock_before(const ByteSource& file, const Superblock& current) {
  const Place& place = current.previous_trailer;
  const auto wrong = [&](std::uint64_t offset) {
    return Status(Code::kDamaged, file.name(), offset, "R-SB-22",
                  "found no superblock of generation " + std::to_string(current.generation - 1));
  };
  if (place.length != kSlotUnit || place.position > current.trailer_position() ||
      current.trailer_position() - place.position < kSlotUnit)
    return wrong(current.trailer_position() + in_superblock::kPreviousTrailer);
  FoundSuperblock found;
  found.position = place.position;
  NMB_TRY(file.read_at(place.position, found.bytes));
  if (!Superblock::valid(found.bytes) || found.sum() != place.sum) return wrong(place.position);
  FirstFinding first;
  Superblock::decode(found.bytes, place.position, &found.fields, first);
  NMB_TRY(first.status(file.name()));
  if (found.fields.generation != current.generation - 1 ||
      found.fields.file_id != current.file_id ||
      found.fields.file_length != place.position + kSlotUnit)
    return wrong(place.position);
  return found;
}

}  // namespace

Status go_back(const ByteSource& file, std::uint64_t generation, Head* head) {
  if (generation == 0 || generation > head->superblock.generation)
    return Status(Code::kNotFound, file.name(), kNoOffset, "",
                  "the file has no generation " + std::to_string(generation) +
                      "; its newest is generation " + std::to_string(head->superblock.generation));
  if (generation == head->superblock.generation) return {};
  while (head->superblock.generation > generation) {
    NMB_ASSIGN(FoundSuperblock before, superblock_before(file, head->superblock));
    head->position = before.position;
    head->superblock = std::move(before.fields);
    std::ranges::copy(before.bytes, head->superblock_bytes.begin());
  }
  head->rolled_forward = false;
  if (std::string names = unsupported_features(head->superblock.incompatible); !names.empty())
    return Status(Code::kUnsupported, file.name(), head->position + in_superblock::kIncompatible,
                  "R-SB-6", "the file uses " + names + ", which this version does not read");
  head->dictionary.clear();
  FirstFinding unused;
  return choose_dictionary(file, *head, unused);
}

Result<Head> read_head(const ByteSource& file, Findings& findings) {
  NMB_ASSIGN(Choice choice, choose_newest(file, TrailerScope::kLastUnit));
  report_head(choice, Severity::kWarning, findings);
  if (!std::ranges::equal(std::span(choice.reading.bytes).subspan(kGuardPosition, kGuard.size()),
                          kGuard))
    findings.report(
        {"R-FL-6", kGuardPosition, "guard", "other bytes",
         "the guard; without it, HDF5 programs may open a file that is packed in this one, "
         "and cut this file",
         Severity::kWarning});
  return head_of(file, std::move(choice), findings);
}

}  // namespace nmb
