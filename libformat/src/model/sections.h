// Sequences of sections and their frames (spec/format.md, section 9).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/status.h"
#include "wire/items.h"
#include "wire/place.h"

namespace nmb {

inline constexpr std::uint64_t kSectionHeader = 16;
inline constexpr std::uint16_t kSectionProvenance = 1, kSectionEarlier = 9;
inline constexpr std::uint16_t kCriticalForReading = 1, kCriticalForWriting = 2;

// A section's frame; its payload lies at `payload`.
struct SectionFrame {
  std::uint16_t type = 0, flags = 0, version = 1, codec = 0;
  std::uint64_t payload = 0, length = 0;
  // Returns whether this version knows the section, if these types are known here.
  bool is_one_of(std::initializer_list<std::uint16_t> types) const {
    return version == 1 && codec == 0 && std::find(types.begin(), types.end(), type) != types.end();
  }
};

// Calls `visit` for each section of a place, up to the first that does not fit, and `wrong` for
// each breach of R-SC-1 with the section's offset. Payloads are not read. flags_in_use: a feature
// that this version does not know may use unknown flags. Errors: kIo.
Status walk_sections(
    const ByteSource& file, const Place& place,
    const std::function<void(const SectionFrame&)>& visit,
    const std::function<void(std::uint64_t offset, std::string found, std::string expected)>& wrong,
    bool flags_in_use = false);

// Appends a section to a sequence; put_payload(ItemsOut*) writes its payload.
template <class PutPayload>
void append_section(std::uint16_t type, std::uint16_t flags, std::vector<std::byte>* sections,
                    PutPayload put_payload) {
  ItemsOut out(sections);
  out.put(type);
  out.put(flags);
  out.put(std::uint16_t{1});
  out.put(std::uint16_t{0});
  const std::size_t length = out.hold<std::uint64_t>();
  const std::size_t payload = out.position();
  put_payload(&out);
  out.tell<std::uint64_t>(length, payload);
  out.pad();
}

// The sections of an earlier generation that a sequence continues, according to its first section:
// none (absent), a place before the sequence, or an invalid place (R-SC-1) with the found value.
struct EarlierSections {
  Place place;
  std::string wrong;
};
// place: of the sequence, in the file. Errors: kIo.
Result<EarlierSections> earlier_sections(const ByteSource& file, const Place& place);
void append_earlier(const Place& place, std::vector<std::byte>* sections);

// Longer sequences are not read.
inline constexpr std::uint64_t kMostSections = std::uint64_t{1} << 26;

// Calls `visit` with each section of a place, those that it continues first, until it fails. Skips
// kSectionEarlier. most: bytes of all together. flags_in_use: see walk_sections(). Errors: kDamaged
// (R-SB-9, R-SC-1), kLimit, kIo.
Status read_sections(
    const ByteSource& file, Place place, std::uint64_t most, bool flags_in_use,
    const std::function<Status(const SectionFrame&, std::string_view payload)>& visit);

}  // namespace nmb
