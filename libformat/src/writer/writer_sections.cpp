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
  if (ranks_.rank() == 0) provenance_.emplace_back(json);
  return {};
}

// Those that this version does not know may hinder it.
Status Writer::Impl::check_sections() const {
  NMB_ASSIGN(const Sections sections, read_sections(*source_, superblock_.global_sections));
  for (const SectionFrame& frame : sections.frames)
    if (frame.type != kSectionProvenance && (frame.flags & kCriticalForWriting) != 0)
      return Status(Code::kUnsupported, file_->name(),
                    superblock_.global_sections.position + frame.payload - kSectionHeader, "",
                    "the file has a global section of type " + std::to_string(frame.type) +
                        " that only a newer writer keeps up");
  return {};
}

// Sections are written again as a whole.
void Writer::Impl::retire_sections() {
  const Place& old = superblock_.global_sections;
  if (provenance_.empty() || old.absent()) return;
  dead_.push_back({old.position, round_up(old.length, 8), 0, false});
}

// By rank 0, behind all else of the generation.
Status Writer::Impl::write_sections(Superblock& next) {
  if (provenance_.empty()) return {};
  std::vector<std::byte> bytes;
  if (source_) {
    NMB_ASSIGN(Sections old, read_sections(*source_, superblock_.global_sections));
    bytes = std::move(old.bytes);
    bytes.resize(round_up(bytes.size(), 8));
  }
  for (const std::string& text : provenance_)
    append_section(kSectionProvenance, 0, &bytes,
                   [&](ItemsOut* out) { out->put(std::string_view(text)); });
  if (bytes.size() > kMostSections)
    return Status(Code::kLimit, file_->name(), kNoOffset, "",
                  "found global sections of " + std::to_string(bytes.size()) +
                      " bytes, expected at most " + std::to_string(kMostSections));
  next.global_sections = {round_up(cursor_, 8), bytes.size(), sum_of(bytes)};
  next.compatible |= kFeatureGlobalSections;
  cursor_ = next.global_sections.position;
  NMB_TRY(append(bytes));
  provenance_.clear();
  return {};
}

}  // namespace nmb
