// Verifies identity, slots, trailers and features (spec/format.md, sections 3 to 5 and 13).
#include <algorithm>

#include "verify/nmb_verifier.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/zero.h"

namespace nmb {

// Chooses the newest superblock. False: there is none to go on with.
bool NmbVerifier::read_head() {
  const std::uint64_t size = file_.size();
  std::span<const std::byte> bytes(head_.bytes);
  if (size >= kIdentityPosition + kIdentitySize) {
    Identity identity;
    identity_sound_ = Identity::decode(bytes.subspan(kIdentityPosition, kIdentitySize),
                                       kIdentityPosition, &identity, findings_);
    if (!identity.supported) return false;  // another version, of which nothing is known
  }
  if (size < kBodyStart) {
    report("R-FL-1", size, "file", "a file cut to " + std::to_string(size) + " bytes",
           "at least 20480");
    return false;
  }
  Result<Choice> choice =
      choose_superblock(file_, bytes, identity_sound_, Severity::kFinding, findings_);
  if (!choice.ok()) {
    missed(choice.status());
    return false;
  }
  if (choice->position == 0) {
    if (size < kBodyStart + kSlotUnit)
      report("R-FL-1", size, "file", "a file cut to " + std::to_string(size) + " bytes",
             "at least 20480");
    return false;
  }
  head_.position = choice->position;
  head_.rolled_forward = choice->rolled_forward;
  superblock_bytes_ = choice->bytes;
  Superblock::decode(superblock_bytes_, head_.position, &head_.superblock, findings_);
  if (!superblock().usable_piece_size()) head_.superblock.piece_size = ~std::uint32_t{0};
  summary_.recorded_blocks = superblock().totals.blocks;
  return true;
}

bool NmbVerifier::check_file_length() {
  if (!superblock().usable_length()) return false;  // R-SB-4 is reported
  const std::uint64_t size = file_.size(), length = superblock().file_length;
  if (size < length)
    report("R-FL-1", size, "file", "a file cut to " + std::to_string(size) + " bytes",
           std::to_string(length));
  if (size > length)
    findings_.report({"R-FL-2", length, "file",
                      std::to_string(size - length) + " bytes that no generation has committed",
                      "none", Severity::kWarning});
  check_fixed_bytes();
  return true;
}

// What lies between cover, mark, identity and slots.
void NmbVerifier::check_fixed_bytes() {
  std::array<std::byte, kFirstSlot> expected{};
  std::ranges::copy(kGuard, expected.begin() + kGuardPosition);
  auto check = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t at = from; at < to; ++at)
      if (head_.bytes[at] != expected[at])
        return report("R-FL-6", at, "file", "another byte than the head's", "zeros and the guard");
  };
  check(kMarkPosition + kMarkSize, kIdentityPosition);
  check(kIdentityPosition + kIdentitySize, kFirstSlot);
}

// False: features that this version does not read.
bool NmbVerifier::check_superblock() {
  if (std::string names = unsupported_features(superblock().incompatible); !names.empty()) {
    findings_.report({"R-SB-6", field(in_superblock::kIncompatible), "superblock",
                      names + ", which this version does not read", "features that it reads",
                      Severity::kUnsupported});
    return false;
  }
  check_trailer();
  check_slots();
  check_previous_trailers();
  check_hdf5_superblock();
  return true;
}

void NmbVerifier::check_trailer() {
  const std::uint64_t position = superblock().file_length - kSlotUnit;
  if (!claim(position, kSlotUnit, field(in_superblock::kFileLength), "trailer") ||
      head_.rolled_forward)
    return;
  std::array<std::byte, kSlotUnit> trailer;
  if (Status status = file_.read_at(position, trailer); !status.ok()) return missed(status);
  const auto differ = std::mismatch(trailer.begin(), trailer.end(), superblock_bytes_.begin());
  if (differ.first != trailer.end())
    report("R-SB-2", position + static_cast<std::uint64_t>(differ.first - trailer.begin()),
           "trailer", "another byte than in the slot", "a copy of the slot");
}

void NmbVerifier::check_slots() {
  const std::uint64_t generation = superblock().generation;
  if (head_.rolled_forward || generation == 0) return;  // R-SB-1 or R-SB-3 is reported
  const std::uint64_t own = Superblock::slot_position(generation);
  const std::uint64_t other = kFirstSlot + kFirstSlot + kSlotUnit - head_.position;
  if (head_.position != own)
    report("R-SB-3", field(in_superblock::kGeneration), "superblock slot",
           "generation " + std::to_string(generation), "it in the other slot");
  auto slot = std::span(head_.bytes).subspan(other, kSlotUnit);
  const bool zero = all_zero(slot);
  if (!zero && !Superblock::valid(slot)) return;  // R-SB-1 is reported
  const std::uint64_t found = load_le<std::uint64_t>(&slot[16]);
  if (zero ? generation != 1 : found != generation - 1 || generation == 1)
    report(
        "R-SB-3", other + 16, "superblock slot",
        zero ? "zero" : "generation " + std::to_string(found),
        generation == 1 ? "zero in generation 1" : "generation " + std::to_string(generation - 1));
}

// Back to the first generation. Each is claimed: this ends.
void NmbVerifier::check_previous_trailers() {
  Superblock current = superblock();
  std::uint64_t placed_at = field(in_superblock::kPreviousTrailer);
  while (current.generation > 1 || !current.previous_trailer.absent()) {
    Superblock previous;
    if (!check_previous_trailer(current, placed_at, &previous)) {
      all_walked_ = false;  // where the trailers before it lie is not known
      return;
    }
    placed_at = current.previous_trailer.position + in_superblock::kPreviousTrailer;
    current = previous;
  }
}

// False: there is none to go on with. placed_at: of the place in `current`.
bool NmbVerifier::check_previous_trailer(const Superblock& current, std::uint64_t placed_at,
                                         Superblock* previous) {
  const std::string object = "previous trailer";
  const Place& place = current.previous_trailer;
  if (place.absent() || current.generation <= 1) {
    report("R-SB-10", placed_at, object, place.absent() ? "none" : "one",
           "one exactly in generations behind the first");
    return false;
  }
  if (!check_place(place, "R-SB-9", placed_at, object)) return false;
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
    FirstFinding unused;  // what its fields break was told when it was the newest
    Superblock::decode(bytes, place.position, previous, unused);
    good = previous->generation == current.generation - 1 &&
           previous->file_length == place.position + kSlotUnit;
  }
  if (!good)
    report("R-SB-10", placed_at, object,
           "no superblock of generation " + std::to_string(current.generation - 1) +
               " that ends its file length",
           "one at " + std::to_string(place.position));
  return good;
}

void NmbVerifier::check_features() {
  auto check = [&](std::size_t offset, std::uint64_t mask, std::uint64_t used) {
    if (used & ~mask)
      report("R-SB-6", field(offset), "superblock", "feature mask " + std::to_string(mask),
             "the bits of features in use, " + std::to_string(used));
  };
  check(in_superblock::kCompatible, superblock().compatible, used_compatible_);
  check(in_superblock::kReadonlyCompatible, superblock().readonly_compatible,
        used_readonly_compatible_);
}

}  // namespace nmb
