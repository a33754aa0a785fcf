// Verifies that all structures lie within the file, and that no two structures share a byte. All
// bytes between structures must be zero (spec/format.md, section 3).
#include <algorithm>

#include "verify/nmb_verifier.h"
#include "wire/joined_text.h"
#include "wire/zero.h"

namespace nmb {

bool NmbVerifier::lies_within(std::uint64_t position, std::uint64_t length, std::uint64_t placed_at,
                              const std::string& object) {
  const std::uint64_t file_length = superblock().file_length;
  if (position >= kBodyStart && position % 8 == 0 && length <= file_length &&
      position <= file_length - length)
    return true;
  report("R-FL-5", placed_at, object, joined_text(length, " bytes at ", position),
         joined_text("a place between 16384 and ", file_length, " at a multiple of 8"));
  all_walked_ = false;
  return false;
}

bool NmbVerifier::claim(RegionKind kind, std::uint64_t position, std::uint64_t length,
                        std::uint64_t placed_at, const std::string& object) {
  if (!lies_within(position, length, placed_at, object)) return false;
  if (const auto shared = space_.claim(position, position + length)) {
    report("R-FL-3", *shared, object,
           joined_text(length, " bytes at ", position, " that belong to another structure too"),
           "bytes that no other structure has");
    all_walked_ = false;
    return false;
  }
  if (position + length <= file_.size()) {
    if (regions_) regions_->add({position, length, kind, owner_});
    return true;
  }
  // The file is too short; read_head() has reported the violation of R-FL-1.
  all_walked_ = false;
  if (block_) block_->damaged = true;
  return false;
}

void NmbVerifier::add_fixed_regions() {
  const std::uint64_t size = file_.size(), file_length = superblock().file_length;
  regions_->add({0, kFirstSlot, RegionKind::kHead, {}});
  regions_->add({kFirstSlot, 2 * kSlotUnit, RegionKind::kSuperblock, {}});
  if (!superblock().dictionary.absent())
    regions_->add(
        {kDictionaryPosition, superblock().dictionary.length, RegionKind::kDictionary, {}});
  if (size > file_length)
    regions_->add({file_length, size - file_length, RegionKind::kUncommitted, {}});
}

void NmbVerifier::check_gaps() {
  constexpr std::uint64_t kGapAtOnce = 1 << 20;
  std::vector<std::byte> buffer;
  space_.for_each_gap(std::max(kBodyStart, new_from_), superblock().file_length,
                      [&](std::uint64_t at, std::uint64_t end) {
                        while (at < end) {
                          const std::uint64_t length = std::min(kGapAtOnce, end - at);
                          if (!file_.is_unallocated(at, length)) {
                            buffer.resize(length);
                            if (Status status = file_.read_at(at, buffer); !status.ok())
                              return missed(status);
                            if (std::size_t bad = first_nonzero(buffer); bad != kAllZero)
                              return report("R-FL-4", at + bad, "file",
                                            "a byte that belongs to no structure", "0");
                          }
                          at += length;
                        }
                      });
}

void NmbVerifier::check_zero(const char* rule, std::uint64_t position,
                             std::span<const std::byte> bytes, const std::string& object) {
  if (std::size_t bad = first_nonzero(bytes); bad != kAllZero)
    report(rule, position + bad, object, "a byte other than zero", "0");
}

}  // namespace nmb
