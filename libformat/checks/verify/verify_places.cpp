// Verifies the dictionary, the sections and other structures whose places are in the superblock
// (spec/format.md, sections 8.3, 9 and 12).
#include <algorithm>
#include <utility>

#include "block/block_header.h"
#include "model/sections.h"
#include "verify/nmb_verifier.h"
#include "verify/status_finding.h"
#include "wire/checked.h"
#include "wire/hash.h"
#include "wire/joined_text.h"
#include "wire/zero.h"

namespace nmb {

bool NmbVerifier::check_place(const Place& place, const char* rule, std::uint64_t placed_at,
                              const std::string& object, RegionKind kind) {
  if (place.position == 0 || place.length == 0) {
    all_walked_ = false;
    return false;  // an invalid place is reported where it is decoded
  }
  if (place.length >> 63) {
    report("R-FL-5", placed_at, object, joined_text(place.length, " bytes"),
           "a place within the file");
    all_walked_ = false;
    return false;
  }
  if (!claim(kind, place.position, round_up(place.length, 8), placed_at, object)) return false;
  if (regions_) return true;
  CopyBuffer buffer;
  const ValueOutcome outcome =
      check_range(file_, {place.position, place.length, place.sum}, buffer);
  if (!outcome.status.ok()) {
    missed(outcome.status);
    return false;
  }
  if (outcome.wrong_sum) {
    report(rule, placed_at, object, sum_text(*outcome.wrong_sum), sum_text(place.sum));
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
    view_sound_ =
        check_place(s.view, "R-SB-9", field(in_superblock::kView), "view", RegionKind::kView);
  }
  check_file_table();
  for (std::size_t i = 0; i < s.later_places.size(); ++i)
    if (!s.later_places[i].absent())
      check_place(s.later_places[i], "R-SB-9", field(in_superblock::kLaterPlaces + i * kPlaceSize),
                  "structure of a later version");
}

void NmbVerifier::check_file_table() {
  const Superblock& s = superblock();
  if (s.file_table.absent()) {
    files_ = std::make_shared<const FileTable>();
    return;
  }
  auto pages = check_chain(PageUse::kFileTable, s.file_table, field(in_superblock::kFileTable),
                           "file table", ~std::uint64_t{0});
  if (!pages) return;
  TablePaths paths;
  bool whole = true;
  const std::uint64_t findings = summary_.findings;
  for (const auto& page : *pages)
    whole = nmb::check_file_table(*page, s, &paths, findings_) && whole;
  if (!whole || summary_.findings != findings) {
    all_walked_ = false;  // the places of the originals are unknown
    return;
  }
  files_ = std::make_shared<const FileTable>(std::move(*pages));
  ReaderCore core(file_, head_, options_.external);
  core.take_file_table(files_);
  for (std::uint32_t row = 0; row < files_->rows(); ++row)
    if (files_->is_original(row)) {
      original_orders_.insert(files_->row(row).order);
      check_original(core, row);
    }
}

// Checks the data map of an original, its pieces and its digests.
void NmbVerifier::check_original(const ReaderCore& core, std::uint32_t row) {
  used_compatible_ |= kFeatureOriginals;
  if (is_old(files_->map(row))) return;
  const bool has_digests = checks_originals();
  std::optional<OriginalDigests> digests;
  if (has_digests)
    digests.emplace(core.external().open(row + 1), superblock().piece_size,
                    files_->sha256(row).has_value());
  if (files_->size(row) != 0 && (walks_maps() || has_digests)) {
    MapWalk walk;
    walk.object = "data map of an original";
    walk.is_original = true;
    walk.owner = owner_of_original(row + std::uint64_t{1});
    walk.digests = digests ? &*digests : nullptr;
    owner_ = {RegionOwner::Of::kOriginal, row};
    const bool could_be_read =
        walk_map(files_->map(row), files_->value_offset(row, kMapPosition), &walk);
    owner_ = {};
    if (could_be_read && walk.next != files_->size(row))
      report("R-FT-12", files_->value_offset(row, kStoredLength), "file table",
             joined_text(files_->size(row), " bytes of an original"),
             joined_text(walk.next, ", where its pieces end"));
  }
  if (digests) check_digests(row, &*digests);
}

// Compares the digests of an original with the recorded digests.
void NmbVerifier::check_digests(std::uint32_t row, OriginalDigests* digests) {
  report_values();
  digests->read_to(files_->size(row));
  const std::uint64_t findings = summary_.findings;
  auto& [checked, whole] = checked_originals_.emplace_back(row, false);
  const Status& status = digests->status();
  const bool other_bytes = status.rule() == "R-EX-5";
  if (!status.ok() && !other_bytes) {
    if (status.code() != Code::kDamaged) {
      missed(status);
    } else if (!at_least(VerifyLevel::kData)) {
      // At level kData, the check of values reports this.
      Finding finding = finding_of(status);
      finding.object = joined_text("original in row ", row + 1, " of the file table");
      findings_.report(std::move(finding));
    }
    return;
  }
  const FileDigests found = digests->digests();
  if (other_bytes || found.xxh3 != files_->digest(row))
    report("R-FT-7", files_->value_offset(row, kDigest), "file table",
           "an original with another digest", "the recorded digest");
  const std::optional<Sha256> recorded = files_->sha256(row);
  if (recorded && (other_bytes || found.sha256 != *recorded))
    report("R-FT-15", files_->value_offset(row, kBytesEnd), "file table",
           "an original with another SHA-256", "the recorded SHA-256");
  whole = findings == summary_.findings;
}

// Returns whether the block of an original was replaced or removed.
bool NmbVerifier::is_dead_original(std::uint32_t row) const {
  return all_walked_ && !live_orders_.contains(files_->row(row).order);
}

// Dead originals do not count, because they cannot be written again.
void NmbVerifier::count_originals() {
  for (const auto& [row, whole] : checked_originals_) {
    if (is_dead_original(row)) continue;
    ++summary_.originals;
    summary_.whole_originals += whole;
  }
}

// Checks the newest global sections, and then all older global sections to which they refer.
void NmbVerifier::check_global_sections() {
  const std::string object = "global sections";
  Place place = superblock().global_sections;
  const char* rule = "R-SB-9";
  for (std::uint64_t placed_at = field(in_superblock::kGlobalSections); !place.absent();) {
    if (!check_place(place, rule, placed_at, object)) {
      all_walked_ = false;  // the places of the older sections are unknown
      return;
    }
    check_sections(place, object, {kSectionProvenance, kSectionEarlier});
    const Result<EarlierSections> earlier = earlier_sections(file_, place);
    if (!earlier.ok()) return missed(earlier.status());
    if (!earlier->wrong.empty()) {
      report("R-SC-2", place.position, object, earlier->wrong, earlier->expected);
      all_walked_ = false;
      return;
    }
    rule = "R-SC-2";
    placed_at = place.position;
    place = earlier->place;
  }
}

// Checks both copies of the dictionary. Later checks decode bodies with an undamaged copy.
void NmbVerifier::check_dictionary() {
  const Place place = superblock().dictionary;
  auto area = std::span(head_.bytes).subspan(kDictionaryPosition);
  if (place.absent()) return check_zero("R-BK-23", kDictionaryPosition, area, "no dictionary");
  head_.superblock.dictionary = {};
  if (place.position == 0 || place.length == 0 || place.length > kMaxDictionary) {
    all_walked_ = false;
    return;  // R-SB-9 or R-BK-13 was already reported
  }
  check_zero("R-BK-23", kDictionaryPosition + place.length, area.subspan(place.length),
             "dictionary");
  auto copy = area.first(place.length);
  head_.superblock.dictionary = place;
  head_.dictionary.assign(copy.begin(), copy.end());

  const std::optional<std::vector<std::byte>> body = check_dictionary_block(place, copy);
  // The dictionary is usable if one of the two copies has the right sum.
  if (sum_of(copy) == place.sum) return;
  if (body && sum_of(*body) == place.sum)
    head_.dictionary = *body;
  else
    report("R-SB-9", field(in_superblock::kDictionary), "dictionary",
           "no copy with the recorded sum", "a copy with the sum that the superblock records");
}

// Checks the block that contains the second copy of the dictionary. Returns the block's body if the
// block's header is a dictionary header.
std::optional<std::vector<std::byte>> NmbVerifier::check_dictionary_block(
    const Place& place, std::span<const std::byte> copy) {
  const std::string object = "dictionary";
  const std::uint64_t at = place.position, length = block_length(0, place.length);
  if (!claim(RegionKind::kDictionary, at, length, field(in_superblock::kDictionary), object))
    return std::nullopt;
  std::vector<std::byte> bytes(length);
  if (Status status = file_.read_at(at, bytes); !status.ok()) {
    missed(status);
    return std::nullopt;
  }
  BlockHeader header;
  std::string_view name;
  if (!BlockHeader::decode(bytes, at, &header, &name, findings_)) {
    all_walked_ = false;
    return std::nullopt;
  }
  auto stored = std::span(bytes).subspan(kBlockHeaderSize);
  if (header.origin.file_id != superblock().file_id)
    report("R-BK-14", at + in_block_header::kFileId, object, "another file id",
           "the id of this file");
  if (header.position != at)
    report("R-BK-15", at + in_block_header::kPosition, object,
           joined_text("own position ", header.position), std::to_string(at));
  const std::uint64_t generation = header.origin.generation;
  if (generation == 0 || generation > superblock().generation)
    report("R-BK-16", at + in_block_header::kGeneration, object,
           joined_text("generation ", generation), joined_text("1 to ", superblock().generation));
  if (generation == superblock().generation && header.origin.stamp != superblock().stamp)
    report("R-BK-17", at + in_block_header::kStamp, object,
           joined_text("stamp ", header.origin.stamp), std::to_string(superblock().stamp));
  if (header.name_length != 0)
    report("R-BK-3", at + in_block_header::kNameLength, object,
           joined_text(header.name_length, " bytes of name"), "none");
  const int known_flags = kFlagTombstone | kFlagHole | kFlagMap;
  if ((header.flags & ~known_flags) && superblock().all_known())
    report("R-BK-4", at + in_block_header::kFlags, object, joined_text("flags ", header.flags),
           "0");
  if (header.flags & kFlagTombstone)
    report("R-BK-18", at + in_block_header::kFlags, object, "a tombstone", "a dictionary");
  const bool is_one = header.kind == kKindDictionary && header.codec == 0 &&
                      header.stored_length == place.length && header.raw_length == place.length;
  if (!is_one)
    report("R-BK-13", at, object, "another kind, codec or length",
           joined_text("kind 255, codec 0, ", place.length, " bytes"));
  else if (header.order != 0 || header.samples != 0 || header.records != 0 ||
           header.extent_position != 0 || header.extent_length != 0 || header.extent_sum != 0 ||
           (header.flags & (kFlagHole | kFlagMap)))
    report("R-BK-13", at, object, "a header with an order, samples, records, an extent or a hole",
           "none");
  if (!is_one || header.name_length != 0) return std::nullopt;
  std::vector<std::byte> body(stored.begin(),
                              stored.begin() + static_cast<std::ptrdiff_t>(place.length));
  if (const std::uint64_t sum = sum_of(stored); sum != header.body_sum) {
    report("R-BK-6", at + kBlockHeaderSize, object, "a body with " + sum_text(sum),
           sum_text(header.body_sum));
    return body;
  }
  check_zero("R-BK-5", at + kBlockHeaderSize + place.length, stored.subspan(place.length), object);
  if (digest_of(body) != header.digest)
    report("R-BK-9", at + kBlockHeaderSize, object, "a body with a wrong digest",
           "the digest in the header");
  else if (!std::equal(body.begin(), body.end(), copy.begin()))
    report("R-BK-22", at, object, "bytes that differ from the bytes at 12288",
           "a copy of the bytes at 12288");
  return body;
}

// `known` lists the section types that this version can read (version 1 of each type).
void NmbVerifier::check_sections(const Place& place, const std::string& object,
                                 std::initializer_list<std::uint16_t> known) {
  const Status status = walk_sections(
      file_, place,
      [&](const SectionFrame& frame) {
        if ((frame.flags & kCriticalForReading) != 0 && !frame.is_one_of(known))
          findings_.report({"R-SC-3", frame.payload - kSectionHeader, object,
                            joined_text("a critical section of type ", frame.type),
                            "a type that this version knows", Severity::kUnsupported});
      },
      [&](std::uint64_t offset, std::string found, std::string expected) {
        report("R-SC-1", offset, object, std::move(found), std::move(expected));
      },
      !superblock().all_known());
  if (!status.ok()) missed(status);
}

}  // namespace nmb
