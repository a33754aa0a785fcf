// Sequences of sections (see block/sections.h).
#include "block/sections.h"

#include <algorithm>
#include <utility>

#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/zero.h"

namespace nmb {

Status walk_sections(const ByteSource& file, const Place& place,
                     const std::function<void(const SectionFrame&)>& visit,
                     const std::function<void(std::uint64_t offset, std::string found,
                                              std::string expected)>& wrong) {
  constexpr std::uint64_t kWindow = 64 << 10;
  constexpr std::uint16_t kFlags = kCriticalForReading | kCriticalForWriting;
  const std::uint64_t end = place.position + place.length;
  std::vector<std::byte> window;
  std::uint64_t window_at = 0;
  // At most kSectionHeader bytes.
  const auto look = [&](std::uint64_t at, std::uint64_t length) -> Result<const std::byte*> {
    if (window.empty() || at < window_at || at + length > window_at + window.size()) {
      window.resize(std::min(kWindow, end - at));
      window_at = at;
      NMB_TRY(file.read_at(at, window));
    }
    return window.data() + (at - window_at);
  };
  for (std::uint64_t at = place.position; at < end;) {
    const std::uint64_t left = end - at;
    if (left < kSectionHeader)
      return wrong(at, std::to_string(left) + " bytes", "a section, or none"), Status();
    NMB_ASSIGN(const std::byte* header, look(at, kSectionHeader));
    SectionFrame frame;
    frame.type = load_le<std::uint16_t>(header);
    frame.flags = load_le<std::uint16_t>(header + 2);
    frame.version = load_le<std::uint16_t>(header + 4);
    frame.codec = load_le<std::uint16_t>(header + 6);
    frame.length = load_le<std::uint64_t>(header + 8);
    frame.payload = at + kSectionHeader;
    if (frame.flags & ~kFlags)
      wrong(at, "section flags " + std::to_string(frame.flags), "bits 0 and 1 alone");
    const std::uint64_t room = left - kSectionHeader;
    if (frame.length > room || round_up(frame.length, 8) > room)
      return wrong(at, "a section of " + std::to_string(frame.length) + " bytes",
                   "at most " + std::to_string(room) + " with padding"),
             Status();
    const std::uint64_t padding = round_up(frame.length, 8) - frame.length;
    if (padding != 0) {
      NMB_ASSIGN(const std::byte* bytes, look(frame.payload + frame.length, padding));
      if (!all_zero({bytes, padding})) wrong(at, "padding other than zero", "0");
    }
    visit(frame);
    at = frame.payload + frame.length + padding;
  }
  return {};
}

Result<Sections> read_sections(const ByteSource& file, const Place& place) {
  Sections sections;
  if (place.absent()) return sections;
  if (place.length > file.size() || place.position > file.size() - place.length)
    return Status(Code::kDamaged, file.name(), place.position, "R-FL-5",
                  "found sections of " + std::to_string(place.length) +
                      " bytes, expected a place within the file");
  if (place.length > kMostSections)
    return Status(Code::kLimit, file.name(), place.position, "",
                  "found sections of " + std::to_string(place.length) +
                      " bytes, expected at most " + std::to_string(kMostSections));
  sections.bytes.resize(place.length);
  NMB_TRY(file.read_at(place.position, sections.bytes));
  if (sum_of(sections.bytes) != place.sum)
    return Status(Code::kDamaged, file.name(), place.position, "R-SB-9",
                  "found sections with another sum, expected that in the superblock");
  Status wrong;
  NMB_TRY(walk_sections(
      MemorySource(sections.bytes, file.name()), {0, place.length, 0},
      [&](const SectionFrame& frame) { sections.frames.push_back(frame); },
      [&](std::uint64_t offset, const std::string& found, const std::string& expected) {
        if (wrong.ok())
          wrong = Status(Code::kDamaged, file.name(), place.position + offset, "R-SC-1",
                         "found " + found + ", expected " + expected);
      }));
  NMB_TRY(wrong);
  return sections;
}

}  // namespace nmb
