#include "model/sections.h"

#include <algorithm>
#include <utility>

#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/joined_text.h"
#include "wire/zero.h"

namespace nmb {

Status walk_sections(
    const ByteSource& file, const Place& place,
    const std::function<void(const SectionFrame&)>& visit,
    const std::function<void(std::uint64_t offset, std::string found, std::string expected)>& wrong,
    bool flags_in_use) {
  constexpr std::uint64_t kWindow = 64 << 10;
  constexpr std::uint16_t kFlags = kCriticalForReading | kCriticalForWriting;
  const std::uint64_t end = place.position + place.length;
  std::vector<std::byte> window;
  std::uint64_t window_at = 0;
  // Returns `length` bytes at position `at`. length: at most kSectionHeader.
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
      return wrong(at, joined_text(left, " bytes"), "a section or no bytes"), Status();
    NMB_ASSIGN(const std::byte* header, look(at, kSectionHeader));
    SectionFrame frame;
    frame.type = load_le<std::uint16_t>(header);
    frame.flags = load_le<std::uint16_t>(header + 2);
    frame.version = load_le<std::uint16_t>(header + 4);
    frame.codec = load_le<std::uint16_t>(header + 6);
    frame.length = load_le<std::uint64_t>(header + 8);
    frame.payload = at + kSectionHeader;
    if (!flags_in_use && frame.flags & ~kFlags)
      wrong(at, joined_text("section flags ", frame.flags), "only bits 0 and 1");
    const std::uint64_t room = left - kSectionHeader;
    if (frame.length > room || round_up(frame.length, 8) > room)
      return wrong(at, joined_text("a section of ", frame.length, " bytes"),
                   joined_text("at most ", room, " with padding")),
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

void append_earlier(const Place& place, std::vector<std::byte>* sections) {
  append_section(kSectionEarlier, 0, sections, [&](ItemsOut* out) {
    for (const std::uint64_t part : {place.position, place.length, place.sum}) out->put(part);
  });
}

Result<EarlierSections> earlier_sections(const ByteSource& file, const Place& place) {
  constexpr std::uint64_t kPayload = 24;
  EarlierSections earlier;
  std::byte bytes[kSectionHeader + kPayload];
  if (place.length < kSectionHeader) return earlier;
  const auto header = std::span(bytes).first(std::min<std::uint64_t>(sizeof bytes, place.length));
  NMB_TRY(file.read_at(place.position, header));
  if (load_le<std::uint16_t>(bytes) != kSectionEarlier) return earlier;
  if (header.size() < sizeof bytes || load_le<std::uint16_t>(bytes + 4) != 1 ||
      load_le<std::uint16_t>(bytes + 6) != 0 || load_le<std::uint64_t>(bytes + 8) != kPayload) {
    earlier.wrong = "a section of type 9 with a wrong version, codec or length";
    earlier.expected = "version 1, codec 0 and 24 bytes";
    return earlier;
  }
  const std::byte* payload = bytes + kSectionHeader;
  earlier.place = {load_le<std::uint64_t>(payload), load_le<std::uint64_t>(payload + 8),
                   load_le<std::uint64_t>(payload + 16)};
  const auto& [position, length, sum] = earlier.place;
  if (position == 0 || length == 0 || position >= place.position ||
      length > place.position - position) {
    earlier.wrong = joined_text("earlier global sections of ", length, " bytes at ", position);
    earlier.expected = "a place that ends before the sections that refer to it";
    earlier.place = {};
  }
  return earlier;
}

namespace {

Status read_sequence(
    const ByteSource& file, const Place& place, bool flags_in_use,
    const std::function<Status(const SectionFrame&, std::string_view payload)>& visit) {
  std::vector<std::byte> bytes(place.length);
  NMB_TRY(file.read_at(place.position, bytes));
  if (const std::uint64_t sum = sum_of(bytes); sum != place.sum)
    return Status(Code::kDamaged, file.name(), place.position, "R-SB-9",
                  "found sections with " + sum_text(sum) + ", expected " + sum_text(place.sum));
  Status status, wrong;
  NMB_TRY(walk_sections(
      MemorySource(bytes, file.name()), {0, place.length, 0},
      [&](const SectionFrame& frame) {
        if (status.ok() && frame.type != kSectionEarlier)
          status = visit(
              frame, {reinterpret_cast<const char*>(bytes.data()) + frame.payload, frame.length});
      },
      [&](std::uint64_t offset, const std::string& found, const std::string& expected) {
        if (wrong.ok())
          wrong = Status(Code::kDamaged, file.name(), place.position + offset, "R-SC-1",
                         "found " + found + ", expected " + expected);
      },
      flags_in_use));
  NMB_TRY(wrong);
  return status;
}

}  // namespace

Status read_sections(
    const ByteSource& file, Place place, std::uint64_t most, bool flags_in_use,
    const std::function<Status(const SectionFrame&, std::string_view payload)>& visit) {
  std::vector<Place> places;
  std::uint64_t bytes = 0;
  while (!place.absent()) {
    if (place.length > file.size() || place.position > file.size() - place.length)
      return Status(Code::kDamaged, file.name(), place.position, "R-FL-5",
                    joined_text("found sections of ", place.length,
                                " bytes, expected a place within the file"));
    bytes += place.length;
    if (bytes > most || place.length > kMostSections)
      return Status(
          Code::kLimit, file.name(), place.position, "",
          joined_text("found sections of more than ", std::min(most, kMostSections), " bytes"));
    places.push_back(place);
    NMB_ASSIGN(const EarlierSections earlier, earlier_sections(file, place));
    if (!earlier.wrong.empty())
      return Status(Code::kDamaged, file.name(), place.position, "R-SC-2",
                    "found " + earlier.wrong + ", expected " + earlier.expected);
    place = earlier.place;
  }
  for (auto at = places.rbegin(); at != places.rend(); ++at)
    NMB_TRY(read_sequence(file, *at, flags_in_use, visit));
  return {};
}

}  // namespace nmb
