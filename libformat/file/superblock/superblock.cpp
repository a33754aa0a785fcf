#include "superblock/superblock.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "block/block_header.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/joined_text.h"
#include "wire/zero.h"

namespace nmb {

namespace {

using namespace in_superblock;

constexpr char kSlotMagic[] = "\x89NMBSLOT";
constexpr std::uint16_t kVersion = 1;

constexpr std::size_t kSlotSumOffset = kSlotUnit - 8;

void store_place(std::byte* to, const Place& place) {
  store_le(to, place.position);
  store_le(to + 8, place.length);
  store_le(to + 16, place.sum);
}

Place load_place(const std::byte* from) {
  return {load_le<std::uint64_t>(from), load_le<std::uint64_t>(from + 8),
          load_le<std::uint64_t>(from + 16)};
}

void store_digest(std::byte* to, const Digest& digest) {
  store_le(to, digest.low);
  store_le(to + 8, digest.high);
}

Digest load_digest(const std::byte* from) {
  return {load_le<std::uint64_t>(from), load_le<std::uint64_t>(from + 8)};
}

// Calls visit(offset, field) for each field that is an integer or a place.
template <class S, class Visit>
void for_each_member(S& s, Visit visit) {
  visit(kGeneration, s.generation), visit(kFileLength, s.file_length);
  visit(kCompatible, s.compatible), visit(kReadonlyCompatible, s.readonly_compatible);
  visit(kIncompatible, s.incompatible), visit(in_superblock::kNeeds, s.needs),
      visit(kFileId, s.file_id);
  visit(kStamp, s.stamp), visit(kRootPosition, s.root_position);
  visit(in_superblock::kRootLength, s.root_length), visit(kHeight, s.height);
  visit(kRootDigest, s.root_digest), visit(kTotals, s.totals.blocks);
  visit(kTotals + 8, s.totals.dimensions), visit(kTotals + 16, s.totals.variables);
  visit(kTotals + 24, s.totals.attributes), visit(kTotals + 32, s.totals.records);
  visit(kTotals + 40, s.totals.samples), visit(kPreviousTrailer, s.previous_trailer);
  visit(kDeadMap, s.dead_map), visit(kFileTable, s.file_table), visit(kGrowth, s.growth);
  visit(kGlobalSections, s.global_sections), visit(kStatistics, s.statistics);
  visit(kTags, s.tags), visit(kDictionary, s.dictionary), visit(kView, s.view);
  visit(kIndexPosition, s.index_position), visit(kIndexLength, s.index_length);
  visit(kNextOrder, s.next_order), visit(kPieceSize, s.piece_size);
  visit(kInlineLimit, s.inline_limit), visit(in_superblock::kLeafRows, s.leaf_rows);
  visit(in_superblock::kNodeRows, s.node_rows), visit(kMapRows, s.map_rows);
}

}  // namespace

bool Superblock::has_magic(std::span<const std::byte> bytes) {
  return bytes.size() >= 8 && std::memcmp(bytes.data(), kSlotMagic, 8) == 0;
}

bool Superblock::valid(std::span<const std::byte> bytes) {
  return bytes.size() >= kSlotUnit && has_magic(bytes) &&
         load_le<std::uint16_t>(&bytes[8]) == kVersion &&
         load_le<std::uint64_t>(&bytes[kSlotSumOffset]) == sum_of(bytes.first(kSlotSumOffset));
}

std::array<std::byte, kSlotUnit> Superblock::encode() const {
  std::array<std::byte, kSlotUnit> out{};
  std::byte* p = out.data();
  std::memcpy(p, kSlotMagic, 8);
  store_le(p + 8, kVersion);
  store_le(p + kUsed, static_cast<std::uint16_t>(kLaterPlaces + later_places.size() * kPlaceSize));
  for_each_member(*this, [&](std::size_t offset, const auto& value) {
    if constexpr (std::is_same_v<decltype(value), const Place&>)
      store_place(p + offset, value);
    else if constexpr (std::is_same_v<decltype(value), const Digest&>)
      store_digest(p + offset, value);
    else
      store_le(p + offset, value);
  });
  std::memcpy(p + kHdf5, hdf5.data(), kHdf5Size);
  std::byte* to = p + kLaterPlaces;
  for (const Place& place : later_places) {
    store_place(to, place);
    to += kPlaceSize;
  }
  store_le(p + kSlotSumOffset, sum_of(std::span(out).first(kSlotSumOffset)));
  return out;
}

void Superblock::decode(std::span<const std::byte> bytes, std::uint64_t position, Superblock* out,
                        Findings& findings) {
  const std::byte* p = bytes.data();
  auto wrong = [&](const char* rule, std::size_t offset, std::string found, std::string expected) {
    findings.report({rule, position + offset, "superblock", std::move(found), std::move(expected)});
  };
  for_each_member(*out, [&](std::size_t offset, auto& value) {
    using Field = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Field, Place>)
      value = load_place(p + offset);
    else if constexpr (std::is_same_v<Field, Digest>)
      value = load_digest(p + offset);
    else
      value = load_le<Field>(p + offset);
  });
  std::memcpy(out->hdf5.data(), p + kHdf5, kHdf5Size);

  if (!out->usable_length())
    wrong("R-SB-4", kFileLength, joined_text("file length ", out->file_length),
          "a multiple of 4096, at least 20480");
  const std::size_t used = load_le<std::uint16_t>(p + kUsed);
  const bool used_ok =
      used >= kLaterPlaces && used <= kSlotSumOffset && (used - kLaterPlaces) % kPlaceSize == 0;
  out->later_places.clear();
  if (!used_ok || (used != kLaterPlaces && out->all_known()))
    wrong("R-SB-5", kUsed, joined_text(used, " bytes used"),
          used_ok ? "512" : "512 and a multiple of 24 more, at most 4088");
  if (used_ok)
    for (std::size_t at = kLaterPlaces; at < used; at += kPlaceSize)
      out->later_places.push_back(load_place(p + at));
  if (out->all_known()) {
    auto check_zero = [&](std::size_t from, std::size_t to) {
      if (std::size_t bad = first_nonzero(bytes.subspan(from, to - from)); bad != kAllZero)
        wrong("R-SB-17", from + bad, "a byte that is not zero", "0");
    };
    check_zero(in_superblock::kFlags, kGeneration);
    check_zero(kReserved, kLaterPlaces);
    if (used_ok) check_zero(used, kSlotSumOffset);
  }
  const bool none = out->height == 0;
  const bool no_position = out->root_position == 0, no_length = out->root_length == 0,
             no_digest = out->root_digest.is_zero();
  if (no_position != none && no_length != none && no_digest != none) {
    wrong("R-SB-7", kHeight, joined_text("height ", out->height),
          none ? "a height other than 0, because there is a root" : "0, because there is no root");
  } else {
    auto goes_with_height = [&](std::size_t offset, bool zero, const char* what) {
      if (zero != none)
        wrong("R-SB-7", offset, joined_text(what, zero ? " 0" : " other than 0"),
              none ? "0, because the height is 0"
                   : "a value other than 0, because the height is not 0");
    };
    goes_with_height(kRootPosition, no_position, "root position");
    goes_with_height(in_superblock::kRootLength, no_length, "root length");
    goes_with_height(kRootDigest, no_digest, "root digest");
  }
  if (out->height > kMaxHeight)
    wrong("R-SB-19", kHeight, joined_text("height ", out->height), "at most 10");
  if (none)
    for (std::size_t at = kTotals; at < kPreviousTrailer; at += 8)
      if (load_le<std::uint64_t>(p + at) != 0)
        wrong("R-SB-8", at, "a total although there are no blocks", "0");
  const std::pair<std::size_t, const Place*> places[] = {{kPreviousTrailer, &out->previous_trailer},
                                                         {kDeadMap, &out->dead_map},
                                                         {kFileTable, &out->file_table},
                                                         {kGrowth, &out->growth},
                                                         {kGlobalSections, &out->global_sections},
                                                         {kStatistics, &out->statistics},
                                                         {kTags, &out->tags},
                                                         {kDictionary, &out->dictionary},
                                                         {kView, &out->view}};
  for (auto [offset, place] : places) {
    if (place->absent()) continue;
    if (place->position == 0 || place->length == 0)
      wrong("R-SB-9", offset, "a place without position or length", "all three or none");
    else if (offset == kDictionary && place->length > kMaxDictionary)
      findings.report({"R-BK-13", place->position, "dictionary",
                       joined_text(place->length, " bytes"), "at most 4096"});
  }
  for (std::size_t i = 0; i < out->later_places.size(); ++i)
    if (const Place& place = out->later_places[i];
        !place.absent() && (place.position == 0 || place.length == 0))
      wrong("R-SB-9", kLaterPlaces + i * kPlaceSize, "a place without position or length",
            "all three or none");
  if ((out->index_position == 0) != (out->index_length == 0))
    findings.report({"R-SB-15", position + kIndexPosition, "superblock",
                     "a run of the index without position or length", "both or neither",
                     Severity::kWarning});
  if (!out->usable_piece_size())
    wrong("R-SB-11", kPieceSize, joined_text("piece size ", out->piece_size),
          "a power of 2 from 65536 to 2^30");
  if (out->inline_limit > kMaxInline)
    wrong("R-SB-11", kInlineLimit, joined_text("inline limit ", out->inline_limit),
          "at most 65536");
  const std::tuple<std::size_t, std::uint32_t, const char*> rows[] = {
      {in_superblock::kLeafRows, out->leaf_rows, "leaf rows "},
      {in_superblock::kNodeRows, out->node_rows, "node rows "},
      {kMapRows, out->map_rows, "map rows "}};
  for (auto [offset, value, name] : rows)
    if (value < kMinPageRows || value > kMaxPageRows)
      wrong("R-SB-11", offset, joined_text(name, value), "2 to 65536");
}

bool Superblock::usable_length() const {
  return file_length % kSlotUnit == 0 && file_length >= kMinFileLength && !(file_length >> 63);
}

bool Superblock::usable_piece_size() const {
  return std::has_single_bit(piece_size) && piece_size >= 65536 && piece_size <= (1u << 30);
}

bool Superblock::usable_root() const {
  return root_position != 0 && root_length != 0 && height != 0 && height <= kMaxHeight;
}

bool Superblock::all_known() const {
  return !(incompatible & ~kKnownIncompatible) && !(readonly_compatible & ~kKnownReadonly) &&
         !(compatible & ~kKnownCompatible) && !(needs & ~kKnownNeeds);
}

PageExpectation Superblock::expectation(PageUse use, std::uint16_t level) const {
  PageExpectation expect;
  expect.use = use;
  expect.level = level;
  expect.newest = origin();
  if (use == PageUse::kIndex) expect.max_rows = level == 0 ? leaf_rows : node_rows;
  if (use == PageUse::kDataMap) expect.max_rows = map_rows;
  if (use == PageUse::kStatistics || use == PageUse::kTags) expect.max_rows = kMaxPageRows;
  expect.reserved_in_use = !all_known();
  return expect;
}

Mark Superblock::mark_of(std::span<const std::byte> bytes) {
  const std::byte* p = bytes.data();
  return {load_le<std::uint64_t>(p + kGeneration), load_le<std::uint64_t>(p + kFileLength),
          sum_of(bytes.first(kSlotUnit)), load_digest(p + kFileId)};
}

Superblock Superblock::fields_of(std::span<const std::byte> bytes) {
  FirstFinding ignored;
  Superblock fields;
  decode(bytes, 0, &fields, ignored);
  return fields;
}

std::array<std::byte, kIdentitySize> Superblock::cover(std::span<const std::byte> identity) const {
  std::array<std::byte, kIdentitySize> out{};
  if (all_zero(hdf5))
    std::ranges::copy(identity, out.begin());
  else
    std::ranges::copy(hdf5, out.begin());
  return out;
}

}  // namespace nmb
