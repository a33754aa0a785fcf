#include "define/provenance.h"

#include <string>

#include "model/sections.h"
#include "wire/checked.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

Status add_provenance(WriterCore& w, std::string_view json) {
  NMB_TRY(w.failure);
  if (json.empty())
    return Status(Code::kUsage, "found an empty provenance, expected a JSON object");
  if (json.size() > kMostProvenance)
    return Status(Code::kUsage, w.file->name(), kNoOffset, "",
                  joined_text("found a provenance of ", json.size(), " bytes, expected at most ",
                              kMostProvenance));
  if (!w.ranks.is_first()) return {};
  // Limits the total length of the new sections, because readers and writers refuse a longer
  // sequence of sections. If the file already has global sections, the new sequence begins with a
  // section that refers to them.
  constexpr std::uint64_t kEarlier = kSectionHeader + 24;
  std::uint64_t bytes = kEarlier + kSectionHeader + round_up(json.size(), 8);
  for (const std::string& text : w.next.provenance)
    bytes += kSectionHeader + round_up(text.size(), 8);
  if (bytes > kMostSections)
    return Status(Code::kLimit, w.file->name(), kNoOffset, "",
                  joined_text("found provenance of ", bytes,
                              " bytes in one generation, expected at most ", kMostSections));
  w.next.provenance.emplace_back(json);
  return {};
}

Status check_sections(const WriterCore& w, const Superblock& superblock) {
  return read_sections(
      *w.committed.source, superblock.global_sections, w.committed.source->size(),
      !superblock.all_known(), [&](const SectionFrame& frame, std::string_view) -> Status {
        constexpr std::uint16_t kCritical = kCriticalForReading | kCriticalForWriting;
        if ((frame.flags & kCritical) == 0 || frame.is_one_of({kSectionProvenance})) return {};
        return Status(Code::kUnsupported, w.file->name(), kNoOffset, "",
                      joined_text("the file has a global section of type ", frame.type,
                                  " that only a newer version can update"));
      });
}

Status write_sections(WriterCore& w) {
  Superblock& next = w.next.superblock;
  if (w.next.provenance.empty()) return {};
  std::vector<std::byte> bytes;
  if (!w.committed.superblock.global_sections.absent())
    append_earlier(w.committed.superblock.global_sections, &bytes);
  for (const std::string& text : w.next.provenance)
    append_section(kSectionProvenance, 0, &bytes,
                   [&](ItemsOut* out) { out->put(std::string_view(text)); });
  next.global_sections = {round_up(w.next.cursor, 8), bytes.size(), sum_of(bytes)};
  next.compatible |= kFeatureGlobalSections;
  w.next.cursor = next.global_sections.position;
  NMB_TRY(w.next.append(bytes));
  w.next.provenance.clear();
  return {};
}

}  // namespace nmb
