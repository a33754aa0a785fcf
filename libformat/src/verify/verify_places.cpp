// Verifies the dictionary, sections and what else the superblock places (spec/format.md,
// sections 8.3, 9 and 12).
#include <algorithm>
#include <utility>

#include "block/block_header.h"
#include "block/sections.h"
#include "verify/nmb_verifier.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/zero.h"

namespace nmb {

bool NmbVerifier::check_place(const Place& place, const char* rule, std::uint64_t placed_at,
                              const std::string& object) {
  if (place.position == 0 || place.length == 0) return false;  // reported where it is decoded
  if (place.length >> 63) {
    report("R-FL-5", placed_at, object, std::to_string(place.length) + " bytes",
           "a place within the file");
    all_walked_ = false;
    return false;
  }
  if (!claim(place.position, round_up(place.length, 8), placed_at, object)) return false;
  CopyBuffer buffer;
  const ValueOutcome outcome =
      check_range(file_, {place.position, place.length, place.sum, rule, nullptr}, buffer);
  if (!outcome.status.ok()) {
    missed(outcome.status);
    return false;
  }
  if (!outcome.sum_right) {
    report(rule, placed_at, object, "bytes with another sum", "the sum in the place");
    return false;
  }
  if (outcome.dirty_padding)
    report("R-FL-4", *outcome.dirty_padding, object, "padding other than zero", "0");
  return true;
}

void NmbVerifier::check_places() {
  const Superblock& s = superblock();
  check_dictionary();
  if (!s.global_sections.absent()) {
    used_compatible_ |= kFeatureGlobalSections;
    check_global_sections();
  }
  if (!s.view.absent()) {
    used_readonly_compatible_ |= kFeatureView;
    view_sound_ = check_place(s.view, "R-SB-9", field(in_superblock::kView), "view");
  }
  check_file_table_page();
}

void NmbVerifier::check_file_table_page() {
  const Superblock& s = superblock();
  const std::string object = "file table";
  if (s.file_table.absent()) {
    files_ = std::make_shared<const FileTable>();
    return;
  }
  used_needs_ |= kNeedExternal;
  if (s.file_table.position == 0 || s.file_table.length == 0) {
    all_walked_ = false;
    return;  // R-SB-9 is reported
  }
  auto bytes = read_page_bytes(s.file_table.position, s.file_table.length,
                               field(in_superblock::kFileTable), object);
  if (!bytes) return;
  if (sum_of(*bytes) != s.file_table.sum) {
    report("R-SB-9", field(in_superblock::kFileTable), object, "bytes with another sum",
           "the sum in the place");
    return;
  }
  PageExpectation expect = expectation(PageUse::kFileTable, s.file_table.position);
  std::optional<Page> page = decode_page(std::move(*bytes), expect);
  if (!page) return;
  FirstFinding first;
  check_file_table(*page, first);
  check_file_table(*page, findings_);
  if (!first.found())
    files_ = std::make_shared<const FileTable>(std::make_shared<const Page>(std::move(*page)));
}

// The newest, and those that they continue.
void NmbVerifier::check_global_sections() {
  const std::string object = "global sections";
  Place place = superblock().global_sections;
  const char* rule = "R-SB-9";
  for (std::uint64_t placed_at = field(in_superblock::kGlobalSections); !place.absent();) {
    if (!check_place(place, rule, placed_at, object)) return;
    check_sections(place, object);
    const Result<EarlierSections> earlier = earlier_sections(file_, place);
    if (!earlier.ok()) return missed(earlier.status());
    if (!earlier->wrong.empty()) {
      report("R-SC-1", place.position, object, "earlier sections: " + earlier->wrong,
             "a place ahead of these sections");
      all_walked_ = false;
      return;
    }
    rule = "R-SC-1";
    placed_at = place.position;
    place = earlier->place;
  }
}

// The two copies; the sound one is what bodies are decoded with.
void NmbVerifier::check_dictionary() {
  const Place place = superblock().dictionary;
  auto area = std::span(head_.bytes).subspan(kDictionaryPosition);
  if (place.absent()) return check_zero("R-BK-13", kDictionaryPosition, area, "no dictionary");
  used_needs_ |= kNeedDictionary;
  head_.superblock.dictionary = {};
  if (place.position == 0 || place.length == 0 || place.length > kMaxDictionary) return;
  check_zero("R-BK-13", kDictionaryPosition + place.length, area.subspan(place.length),
             "dictionary");
  auto copy = area.first(place.length);
  head_.superblock.dictionary = place;
  head_.dictionary.assign(copy.begin(), copy.end());

  const std::string object = "dictionary";
  const std::uint64_t at = place.position, length = block_length(0, place.length);
  if (!claim(at, length, field(in_superblock::kDictionary), object)) return;
  std::vector<std::byte> bytes(length);
  if (Status status = file_.read_at(at, bytes); !status.ok()) return missed(status);
  BlockHeader header;
  std::string_view name;
  if (!BlockHeader::decode(bytes, at, &header, &name, findings_, !superblock().all_known())) return;
  auto stored = std::span(bytes).subspan(kBlockHeaderSize);
  if (header.kind != kKindDictionary || header.codec != 0 || header.name_length != 0 ||
      header.stored_length != place.length || header.raw_length != place.length)
    return report("R-BK-13", at, object, "another kind, codec, name or length",
                  "kind 255, codec 0, no name, " + std::to_string(place.length) + " bytes");
  if (header.order != 0 || header.samples != 0 || header.records != 0 ||
      header.extent_position != 0 || header.extent_length != 0 || header.extent_sum != 0)
    report("R-BK-13", at, object, "order, samples, records or extent other than 0", "0");
  if (header.origin.file_id != superblock().file_id)
    report("R-BK-3", at + 16, object, "another file id", "the file's");
  if (header.position != at)
    report("R-BK-3", at + 32, object, "own position " + std::to_string(header.position),
           std::to_string(at));
  const std::uint64_t generation = header.origin.generation;
  if (generation == 0 || generation > superblock().generation)
    report("R-BK-3", at + 40, object, "generation " + std::to_string(generation),
           "1 to " + std::to_string(superblock().generation));
  if (generation == superblock().generation && header.origin.stamp != superblock().stamp)
    report("R-BK-3", at + 144, object, "stamp " + std::to_string(header.origin.stamp),
           std::to_string(superblock().stamp));
  if (header.flags != 0 && superblock().all_known())
    report("R-BK-4", at + 14, object, "flags " + std::to_string(header.flags), "0");
  auto body = stored.first(place.length);
  if (sum_of(stored) != header.body_sum)
    report("R-BK-6", at + kBlockHeaderSize, object, "a body with a wrong sum",
           "the one in the header");
  else if (digest_of(body) != header.digest)
    report("R-BK-9", at + kBlockHeaderSize, object, "a body with a wrong digest",
           "the one in the header");
  check_zero("R-BK-5", at + kBlockHeaderSize + place.length, stored.subspan(place.length), object);
  const bool sound = sum_of(body) == place.sum;
  if (!sound)
    report("R-SB-9", field(in_superblock::kDictionary), object, "bytes with another sum",
           "the sum in the place");
  if (!std::equal(body.begin(), body.end(), copy.begin())) {
    report("R-BK-13", at, object, "bytes other than those at 12288", "a copy of them");
    if (sound) head_.dictionary.assign(body.begin(), body.end());
  }
}

void NmbVerifier::check_sections(const Place& place, const std::string& object) {
  const Status status = walk_sections(
      file_, place, [](const SectionFrame&) {},
      [&](std::uint64_t offset, std::string found, std::string expected) {
        report("R-SC-1", offset, object, std::move(found), std::move(expected));
      });
  if (!status.ok()) missed(status);
}

}  // namespace nmb
