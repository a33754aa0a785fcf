// Global sections: what generations were made of (spec/format.md, section 9).
#include "block/sections.h"
#include "wire/checked.h"
#include "wire/hash.h"
#include "writer/writer_impl.h"

namespace nmb {

Status Writer::Impl::add_provenance(std::string_view json) {
  NMB_TRY(failure_);
  if (json.empty())
    return Status(Code::kUsage, "found an empty provenance, expected a JSON object");
  if (json.size() > kMostProvenance)
    return Status(Code::kUsage, file_->name(), kNoOffset, "",
                  "found a provenance of " + std::to_string(json.size()) +
                      " bytes, expected at most " + std::to_string(kMostProvenance));
  if (ranks_.rank() != 0) return {};
  // A longer sequence would be refused by whoever reads the sections, writers among them. It may
  // begin with the place of the one before.
  constexpr std::uint64_t kEarlier = kSectionHeader + 24;
  std::uint64_t bytes = kEarlier + kSectionHeader + round_up(json.size(), 8);
  for (const std::string& text : provenance_) bytes += kSectionHeader + round_up(text.size(), 8);
  if (bytes > kMostSections)
    return Status(Code::kLimit, file_->name(), kNoOffset, "",
                  "found provenance of " + std::to_string(bytes) +
                      " bytes in one generation, expected at most " +
                      std::to_string(kMostSections));
  provenance_.emplace_back(json);
  return {};
}

// Those that this version does not know may hinder it.
Status Writer::Impl::check_sections(const Superblock& superblock) const {
  return read_sections(
      *source_, superblock.global_sections, source_->size(), !superblock.all_known(),
      [&](const SectionFrame& frame, std::string_view) -> Status {
        constexpr std::uint16_t kCritical = kCriticalForReading | kCriticalForWriting;
        if ((frame.flags & kCritical) == 0 || frame.is_one_of({kSectionProvenance})) return {};
        return Status(Code::kUnsupported, file_->name(), kNoOffset, "",
                      "the file has a global section of type " + std::to_string(frame.type) +
                          " that only a newer writer keeps up");
      });
}

// By rank 0, behind all else of the generation. Those of earlier generations stay where they are.
Status Writer::Impl::write_sections(Superblock& next) {
  if (provenance_.empty()) return {};
  std::vector<std::byte> bytes;
  if (!superblock_.global_sections.absent()) append_earlier(superblock_.global_sections, &bytes);
  for (const std::string& text : provenance_)
    append_section(kSectionProvenance, 0, &bytes,
                   [&](ItemsOut* out) { out->put(std::string_view(text)); });
  next.global_sections = {round_up(cursor_, 8), bytes.size(), sum_of(bytes)};
  next.compatible |= kFeatureGlobalSections;
  cursor_ = next.global_sections.position;
  NMB_TRY(append(bytes));
  provenance_.clear();
  return {};
}

}  // namespace nmb
