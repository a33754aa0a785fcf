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
