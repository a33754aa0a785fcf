// Verifies the identity, the slots, the trailers and the features (spec/format.md, sections 3 to 5
// and 13).
#include <algorithm>
#include <array>

#include "verify/nmb_verifier.h"
#include "wire/hash.h"
#include "wire/joined_text.h"
#include "wire/zero.h"

namespace nmb {

// Reads and checks the newest superblock. Returns false if the file has no superblock, or if the
// newest superblock cannot be used.
bool NmbVerifier::read_head(const Choice& choice) {
  report_head(choice, Severity::kFinding, findings_);
  head_.bytes = choice.reading.bytes;
  if (!choice.lost.ok()) return false;
  head_.position = choice.newest.position;
  head_.rolled_forward = choice.rolled_forward;
  std::ranges::copy(choice.newest.bytes, head_.superblock_bytes.begin());
  FirstFinding told_later;  // ignored here: check_superblock() reports invalid fields
  Superblock::decode(head_.superblock_bytes, head_.position, &head_.superblock, told_later);
  if (!superblock().usable_piece_size()) head_.superblock.piece_size = ~std::uint32_t{0};
  summary_.recorded_blocks = superblock().totals.blocks;
  check_identity(choice);
  check_fixed_bytes();
  if (!superblock().usable_length()) {
    report("R-SB-4", field(in_superblock::kFileLength), "superblock",
           joined_text("file length ", superblock().file_length),
           "a multiple of 4096, at least 20480");
    return false;
  }
  if (const Status status = check_not_cut(file_, choice); !status.ok()) {
    if (status.code() != Code::kDamaged) {
      missed(status);
      return false;
    }
    report("R-FL-1", status.offset(), "file",
           joined_text("a file cut to ", status.offset(), " bytes"),
           std::to_string(superblock().file_length));
  }
  return true;
}

void NmbVerifier::check_identity(const Choice& choice) {
  const auto bytes = std::span(head_.bytes).subspan(kIdentityPosition, kIdentitySize);
  FirstFinding ignored;
  Identity identity;
  if (Identity::decode(bytes, kIdentityPosition, &identity, ignored) && superblock().all_known())
    Identity::check_reserved(bytes, kIdentityPosition, findings_);
  check_cover(choice);
}

void NmbVerifier::check_cover(const Choice& choice) {
  if (choice.cover_fits()) return;
  const bool crash = choice.cover_is_half_written();
  if (crash && choice.in_progress) return;
  const auto cover = std::span(head_.bytes).first(kIdentitySize);
  const auto expected = choice.cover_of(choice.newest);
  const auto differ = std::ranges::mismatch(cover, expected);
  findings_.report({"R-ID-5", static_cast<std::uint64_t>(differ.in1 - cover.begin()), "cover",
                    crash ? "a cover that the last commit did not write, or only in part"
                          : "a byte that differs",
                    all_zero(superblock().hdf5) ? "a copy of the identity"
                                                : "the HDF5 superblock of the view, and zeros",
                    crash ? Severity::kWarning : Severity::kFinding});
}

// Checks the bytes between the cover, the mark, the identity and the slots.
void NmbVerifier::check_fixed_bytes() {
  std::array<std::byte, kFirstSlot> expected{};
  std::ranges::copy(kGuard, expected.begin() + kGuardPosition);
  auto check = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t at = from; at < to; ++at)
      if (head_.bytes[at] != expected[at])
        return report("R-FL-6", at, "file", "a wrong byte between the structures of the head",
                      "zeros and the guard");
  };
  check(kMarkPosition + kMarkSize, kIdentityPosition);
  check(kIdentityPosition + kIdentitySize, kGuardPosition);
  check(kGuardPosition, kGuardPosition + kGuard.size());
  check(kGuardPosition + kGuard.size(), kFirstSlot);
}

// Returns false if the file has features that this version cannot read.
bool NmbVerifier::check_superblock() {
  check_trailer();
  if (std::string names = unsupported_features(superblock().incompatible); !names.empty()) {
    findings_.report({"R-SB-6", field(in_superblock::kIncompatible), "superblock",
                      names + ", which this version cannot read",
                      "features that this version can read", Severity::kUnsupported});
    return false;
  }
  Superblock fields;
  Superblock::decode(head_.superblock_bytes, head_.position, &fields, findings_);
  check_previous_trailers();
  check_hdf5_superblock();
  return true;
}

void NmbVerifier::check_trailer() {
  const std::uint64_t position = superblock().file_length - kSlotUnit;
  if (!claim(RegionKind::kSuperblock, position, kSlotUnit, field(in_superblock::kFileLength),
             "trailer") ||
      head_.rolled_forward)
    return;
  std::array<std::byte, kSlotUnit> trailer;
  if (Status status = file_.read_at(position, trailer); !status.ok()) return missed(status);
  const auto differ = std::mismatch(trailer.begin(), trailer.end(), head_.superblock_bytes.begin());
  if (differ.first != trailer.end())
    report("R-SB-2", position + static_cast<std::uint64_t>(differ.first - trailer.begin()),
           "trailer", "a byte that differs from the slot", "a copy of the slot");
}

// Checks the trailers of all earlier generations, down to the first. The loop ends, because claim()
// refuses a trailer that was claimed before.
void NmbVerifier::check_previous_trailers() {
  Superblock current = superblock();
  file_lengths_.push_back(current.file_length);
  std::uint64_t placed_at = field(in_superblock::kPreviousTrailer);
  while (current.generation > 1 || !current.previous_trailer.absent()) {
    Superblock previous;
    if (!check_previous_trailer(current, placed_at, &previous)) {
      all_walked_ = false;  // the positions of earlier trailers are unknown
      return;
    }
    placed_at = current.previous_trailer.position + in_superblock::kPreviousTrailer;
    current = previous;
    file_lengths_.push_back(current.file_length);
  }
}

// Determines where the generations after VerifierOptions::since begin. If the trailer of that
// generation cannot be found, a finding was reported, and the whole file is checked.
Status NmbVerifier::find_new_part() {
  if (options_.since == 0) return {};
  const std::uint64_t generation = superblock().generation;
  if (options_.since >= generation)
    return Status(Code::kUsage, file_.name(), kNoOffset, "",
                  joined_text("the newest generation is ", generation,
                              "; there is none after generation ", options_.since));
  const std::uint64_t back = generation - options_.since;
  if (back < file_lengths_.size()) new_from_ = file_lengths_[back];
  return {};
}

// Returns false if the trailer cannot be used. placed_at: file position of the field of `current`
// that contains the trailer's place.
bool NmbVerifier::check_previous_trailer(const Superblock& current, std::uint64_t placed_at,
                                         Superblock* previous) {
  const std::string object = "previous trailer";
  const Place& place = current.previous_trailer;
  const bool half = !place.absent() && (place.position == 0 || place.length == 0);
  // If the newest superblock has an incomplete place, Superblock::decode() reports it.
  if (half && placed_at != field(in_superblock::kPreviousTrailer))
    report("R-SB-9", placed_at, object, "a place without position or length",
           "position, length and sum, or none of them");
  if (place.absent() || current.generation <= 1) {
    report("R-SB-10", placed_at, object,
           place.absent() ? "no previous trailer" : "a previous trailer",
           "a previous trailer in every generation except the first");
    return false;
  }
  if (!check_place(place, "R-SB-9", placed_at, object, RegionKind::kSuperblock)) return false;
  std::array<std::byte, kSlotUnit> bytes{};
  bool good = place.length == kSlotUnit;
  if (good) {
    if (Status status = file_.read_at(place.position, bytes); !status.ok()) {
      missed(status);
      return false;
    }
    good = Superblock::valid(bytes);
  }
  if (good) {
    FirstFinding unused;  // ignored: invalid fields of an older superblock are not reported
    Superblock::decode(bytes, place.position, previous, unused);
    good = previous->generation == current.generation - 1 && previous->file_id == current.file_id &&
           previous->file_length == place.position + kSlotUnit &&
           previous->file_length <= current.trailer_position();
  }
  if (!good)
    report("R-SB-22", placed_at, object,
           joined_text("no superblock of generation ", current.generation - 1,
                       " that ends at its file length"),
           joined_text("a superblock at ", place.position));
  return good;
}

void NmbVerifier::check_features() {
  auto check = [&](std::size_t offset, std::uint64_t mask, std::uint64_t used) {
    if (used & ~mask)
      report("R-SB-18", field(offset), "superblock", joined_text("feature mask ", mask),
             joined_text("a mask with the features in use, ", used));
  };
  check(in_superblock::kCompatible, superblock().compatible, used_compatible_);
  check(in_superblock::kReadonlyCompatible, superblock().readonly_compatible,
        used_readonly_compatible_);
}

}  // namespace nmb
