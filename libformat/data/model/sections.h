// Reads and writes sequences of sections (spec/tables.md, section 9).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "wire/bytes.h"
#include "wire/failure.h"
#include "wire/items.h"
#include "wire/place.h"

namespace nmb {

inline constexpr std::uint64_t kSectionHeader = 16;
inline constexpr std::uint16_t kSectionProvenance = 1, kSectionEarlier = 9;
inline constexpr std::uint16_t kCriticalForReading = 1, kCriticalForWriting = 2;

// The frame of a section, whose payload lies at position `payload` of the file.
struct SectionFrame {
  std::uint16_t type = 0, flags = 0, version = 1, codec = 0;
  std::uint64_t payload = 0, length = 0;
  // Returns whether the section has one of these types, and the version and codec that this program
  // knows.
  bool is_one_of(std::initializer_list<std::uint16_t> types) const {
    return version == 1 && codec == 0 && std::find(types.begin(), types.end(), type) != types.end();
  }
};

// Calls `visit` for each section at `place`, without reading the payloads. Calls `wrong` with the
// section's offset for each breach of R-SC-1. Stops at the first section that does not lie within
// `place`. flags_in_use: whether the file uses a feature that this version does not know, and may
// therefore have unknown flags. Errors: kIo.
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

// The place of the earlier sequence that a sequence continues, as the first section of the sequence
// states it. The place is absent if there is no earlier sequence. If that section breaks R-SC-2,
// `wrong` and `expected` are the two parts of the message.
struct EarlierSections {
  Place place;
  std::string wrong, expected;
};
// place: where the sequence lies in the file. Errors: kIo.
Result<EarlierSections> earlier_sections(const ByteSource& file, const Place& place);
void append_earlier(const Place& place, std::vector<std::byte>* sections);

// The largest length of a sequence in bytes. Longer sequences are not read.
inline constexpr std::uint64_t kMostSections = std::uint64_t{1} << 26;

// Calls `visit` for each section of the sequence at a place, after the sections of the earlier
// sequences that it continues. Skips sections of type kSectionEarlier. Stops if `visit` fails.
// most: the largest number of bytes of all these sequences together. For `flags_in_use`, see
// walk_sections(). Errors: kDamaged (R-SB-9, R-SC-1, R-SC-2), kLimit, kIo.
Status read_sections(
    const ByteSource& file, Place place, std::uint64_t most, bool flags_in_use,
    const std::function<Status(const SectionFrame&, std::string_view payload)>& visit);

}  // namespace nmb
