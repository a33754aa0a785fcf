// A generation's superblock, and the choice of the newest one (spec/format.md, section 5).
#include "superblock/superblock.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "block/block_header.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/zero.h"

namespace nmb {

namespace {

constexpr char kSlotMagic[] = "\x89NMBSLOT";
constexpr std::uint16_t kVersion = 1;
constexpr std::uint16_t kUsed = 352;
constexpr std::size_t kSlotSumOffset = kSlotUnit - 8;
constexpr std::uint64_t kMinFileLength = kBodyStart + kSlotUnit;

void store_place(std::byte* to, const Place& place) {
  store_le(to, place.position);
  store_le(to + 8, place.length);
  store_le(to + 16, place.sum);
}

Place load_place(const std::byte* from) {
  return {load_le<std::uint64_t>(from), load_le<std::uint64_t>(from + 8),
          load_le<std::uint64_t>(from + 16)};
}

constexpr const char* kIncompatibleNames[] = {"compressed metadata",      "a metadata dictionary",
                                              "extended bodies (kind 6)", "chunked storage",
                                              "external files",           "compressed values"};

}  // namespace

std::string unsupported_features(std::uint64_t mask) {
  std::string out;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if (!(mask & ~kSupportedIncompatible & (std::uint64_t{1} << bit))) continue;
    if (!out.empty()) out += ", ";
    out += bit < std::size(kIncompatibleNames) ? kIncompatibleNames[bit]
                                               : "feature bit " + std::to_string(bit);
  }
  return out;
}

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
  store_le(p + 10, kUsed);
  store_le(p + 16, generation);
  store_le(p + 24, file_length);
  store_le(p + 32, compatible);
  store_le(p + 40, readonly_compatible);
  store_le(p + 48, incompatible);
  store_le(p + 56, root_position);
  store_le(p + 64, root_length);
  store_le(p + 68, height);
  store_le(p + 72, root_digest.low);
  store_le(p + 80, root_digest.high);
  store_le(p + 88, totals.blocks);
  store_le(p + 96, totals.dimensions);
  store_le(p + 104, totals.variables);
  store_le(p + 112, totals.attributes);
  store_le(p + 120, totals.records);
  store_le(p + 128, totals.samples);
  store_place(p + 136, dead_map);
  store_place(p + 160, file_table);
  store_place(p + 184, global_sections);
  store_place(p + 208, view);
  store_place(p + 232, previous_trailer);
  std::memcpy(p + 256, hdf5.data(), kHdf5Size);
  store_place(p + 312, dictionary);
  store_le(p + 336, piece_size);
  store_le(p + 340, inline_limit);
  store_le(p + 344, next_order);
  store_le(p + kSlotSumOffset, sum_of(std::span(out).first(kSlotSumOffset)));
  return out;
}

void Superblock::decode(std::span<const std::byte> bytes, std::uint64_t position, Superblock* out,
                        Findings& findings) {
  const std::byte* p = bytes.data();
  auto wrong = [&](const char* rule, std::size_t offset, std::string found, std::string expected) {
    findings.report({rule, position + offset, "superblock", std::move(found), std::move(expected)});
  };
  out->generation = load_le<std::uint64_t>(p + 16);
  out->file_length = load_le<std::uint64_t>(p + 24);
  out->compatible = load_le<std::uint64_t>(p + 32);
  out->readonly_compatible = load_le<std::uint64_t>(p + 40);
  out->incompatible = load_le<std::uint64_t>(p + 48);
  out->root_position = load_le<std::uint64_t>(p + 56);
  out->root_length = load_le<std::uint32_t>(p + 64);
  out->height = load_le<std::uint32_t>(p + 68);
  out->root_digest = {load_le<std::uint64_t>(p + 72), load_le<std::uint64_t>(p + 80)};
  out->totals = {load_le<std::uint64_t>(p + 88),  load_le<std::uint64_t>(p + 96),
                 load_le<std::uint64_t>(p + 104), load_le<std::uint64_t>(p + 112),
                 load_le<std::uint64_t>(p + 120), load_le<std::uint64_t>(p + 128)};
  out->dead_map = load_place(p + 136);
  out->file_table = load_place(p + 160);
  out->global_sections = load_place(p + 184);
  out->view = load_place(p + 208);
  out->previous_trailer = load_place(p + 232);
  std::memcpy(out->hdf5.data(), p + 256, kHdf5Size);
  out->dictionary = load_place(p + 312);
  out->piece_size = load_le<std::uint32_t>(p + 336);
  out->inline_limit = load_le<std::uint32_t>(p + 340);
  out->next_order = load_le<std::uint64_t>(p + 344);

  if (out->generation == 0) wrong("R-SB-3", 16, "generation 0", "at least 1");
  if (!out->usable_length())
    wrong("R-SB-4", 24, "file length " + std::to_string(out->file_length),
          "a multiple of 4096, at least 20480");
  if (!(out->incompatible & ~kSupportedIncompatible)) {
    if (load_le<std::uint16_t>(p + 10) != kUsed)
      wrong("R-SB-5", 10, std::to_string(load_le<std::uint16_t>(p + 10)) + " bytes used", "352");
    if (load_le<std::uint32_t>(p + 12) != 0) wrong("R-SB-5", 12, "flags that are not 0", "0");
    if (std::size_t bad = first_nonzero(bytes.subspan(304, 8)); bad != kAllZero)
      wrong("R-SB-5", 304 + bad, "a cipher or key id", "0");
    if (std::size_t bad = first_nonzero(bytes.subspan(kUsed, kSlotSumOffset - kUsed));
        bad != kAllZero)
      wrong("R-SB-5", kUsed + bad, "a byte that is not zero", "0");
  }
  const bool none = out->height == 0;
  const bool no_position = out->root_position == 0, no_length = out->root_length == 0,
             no_digest = out->root_digest.is_zero();
  if (no_position != none && no_length != none && no_digest != none) {
    wrong("R-SB-7", 68, "height " + std::to_string(out->height),
          none ? "not 0 with a root" : "0 without a root");
  } else {
    auto goes_with_height = [&](std::size_t offset, bool zero, const char* what) {
      if (zero != none)
        wrong("R-SB-7", offset, std::string(what) + (zero ? " 0" : " other than 0"),
              none ? "0 at height 0" : "not 0 at another height than 0");
    };
    goes_with_height(56, no_position, "root position");
    goes_with_height(64, no_length, "root length");
    goes_with_height(72, no_digest, "root digest");
  }
  if (out->height > kMaxHeight)
    wrong("R-SB-7", 68, "height " + std::to_string(out->height), "at most 10");
  if (none && no_position && out->totals != Totals{})
    wrong("R-SB-8", 88, "totals without blocks", "0");
  const std::pair<std::size_t, const Place*> places[] = {
      {136, &out->dead_map}, {160, &out->file_table},       {184, &out->global_sections},
      {208, &out->view},     {232, &out->previous_trailer}, {312, &out->dictionary}};
  for (auto [offset, place] : places) {
    if (place->absent()) continue;
    if (place->position == 0 || place->length == 0)
      wrong("R-SB-9", offset, "a place without position or length", "all three or none");
    else if (offset == 312 && place->length > kMaxDictionary)
      findings.report({"R-BK-13", place->position, "dictionary",
                       std::to_string(place->length) + " bytes", "at most 4096"});
  }
  if (!out->usable_piece_size())
    wrong("R-SB-11", 336, "piece size " + std::to_string(out->piece_size),
          "a power of 2 from 65536 to 2^30");
  if (out->inline_limit > kMaxInline)
    wrong("R-SB-11", 340, "inline limit " + std::to_string(out->inline_limit), "at most 65536");
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

bool is_nmb(std::span<const std::byte> bytes) {
  if (Identity::has_magic(bytes)) return true;
  for (std::uint64_t slot : {kFirstSlot, kFirstSlot + kSlotUnit})
    if (bytes.size() >= slot + 8 && Superblock::has_magic(bytes.subspan(slot))) return true;
  return false;
}

Result<Choice> choose_superblock(const ByteSource& file, std::span<const std::byte> head,
                                 bool identity_sound, Severity severity, Findings& findings) {
  auto generation_of = [](std::span<const std::byte> slot) {
    return load_le<std::uint64_t>(&slot[16]);
  };
  Choice choice;
  bool damaged = false, first_zero = false;
  for (std::uint64_t position : {kFirstSlot, kFirstSlot + kSlotUnit}) {
    auto slot = head.subspan(position, kSlotUnit);
    if (Superblock::valid(slot)) {
      if (choice.position != 0 && generation_of(slot) <= generation_of(choice.bytes)) continue;
      choice.position = position;
      std::copy(slot.begin(), slot.end(), choice.bytes.begin());
    } else if (!all_zero(slot)) {
      damaged = true;
      findings.report({"R-SB-1", position, "superblock slot", "neither zero nor valid",
                       "a valid superblock", severity});
    } else {
      first_zero |= position == kFirstSlot;
    }
  }
  if (choice.position == 0 && first_zero)
    findings.report(
        {"R-SB-1", kFirstSlot, "superblock slot", "no valid slot", "at least one", severity});
  if ((!damaged && choice.position != 0) || !identity_sound || file.size() < kMinFileLength)
    return choice;
  const std::uint64_t position = (file.size() / kSlotUnit - 1) * kSlotUnit;
  std::array<std::byte, kSlotUnit> trailer;
  NMB_TRY(file.read_at(position, trailer));
  if (Superblock::valid(trailer) && load_le<std::uint64_t>(&trailer[24]) == position + kSlotUnit &&
      (choice.position == 0 || generation_of(trailer) == generation_of(choice.bytes) + 1))
    return Choice{position, trailer, true};
  return choice;
}

// Section 8.3: either copy will do. With neither the bodies made with it cannot be read, but all
// else can.
static Status choose_dictionary(const ByteSource& file, Head& head, Findings& findings) {
  const Place& place = head.superblock.dictionary;
  if (place.absent()) return {};
  auto bytes = head.dictionary_at_head();
  head.dictionary.assign(bytes.begin(), bytes.end());
  if (sum_of(head.dictionary) == place.sum) return {};
  findings.report({"R-BK-13", kDictionaryPosition, "dictionary", "a wrong sum",
                   "the one in the superblock; its block has a copy", Severity::kWarning});
  const std::uint64_t copy = place.position + block_body_offset(0);
  if (copy > file.size() || place.length > file.size() - copy) {
    head.dictionary.clear();
    return {};
  }
  NMB_TRY(file.read_at(copy, head.dictionary));
  if (sum_of(head.dictionary) != place.sum) head.dictionary.clear();
  return {};
}

Result<Head> read_head(const ByteSource& file, Findings& findings) {
  Head head;
  const std::uint64_t size = file.size();
  head.bytes.resize(std::min<std::uint64_t>(size, kBodyStart));
  NMB_TRY(file.read_at(0, head.bytes));
  if (!is_nmb(head.bytes)) return Status(Code::kUnknownKind, file.name(), 0, "", "not an NMB file");
  if (size < kBodyStart)
    return Status(Code::kDamaged, file.name(), size, "R-FL-1",
                  "cut: found " + std::to_string(size) + " bytes, expected at least 20480");
  std::span<const std::byte> bytes(head.bytes);
  FirstFinding in_identity, first;
  if (!Identity::decode(bytes.first(kIdentitySize), &head.identity, in_identity))
    return in_identity.status(file.name());
  NMB_ASSIGN(Choice choice, choose_superblock(file, bytes, true, Severity::kWarning, findings));
  if (choice.position == 0)
    return Status(Code::kDamaged, file.name(), kFirstSlot, "R-SB-1",
                  "no valid superblock: found neither slot nor trailer");
  head.position = choice.position;
  head.rolled_forward = choice.rolled_forward;
  Superblock::decode(choice.bytes, head.position, &head.superblock, first);
  NMB_TRY(first.status(file.name()));
  if (std::string names = unsupported_features(head.superblock.incompatible); !names.empty())
    return Status(Code::kUnsupported, file.name(), head.position + 48, "R-SB-6",
                  "the file uses " + names + ", which this version does not read");
  if (head.superblock.file_length > size)
    return Status(Code::kDamaged, file.name(), size, "R-FL-1",
                  "cut: found " + std::to_string(size) + " bytes, expected " +
                      std::to_string(head.superblock.file_length));
  NMB_TRY(choose_dictionary(file, head, findings));
  return head;
}

}  // namespace nmb
