#include "superblock/trailer_search.h"

#include <algorithm>
#include <vector>

namespace nmb {

namespace {

constexpr std::uint64_t kUnitsAtOnce = 256;

// Returns the trailer at `position`, or nullopt if the bytes are not a valid superblock, belong to
// another file, or state a file length that requires another position.
std::optional<FoundSuperblock> trailer_in(std::span<const std::byte> bytes, std::uint64_t position,
                                          const std::optional<Digest>& file_id) {
  if (!Superblock::valid(bytes)) return std::nullopt;
  FoundSuperblock found;
  found.position = position;
  std::ranges::copy(bytes.first(kSlotUnit), found.bytes.begin());
  found.fields = Superblock::fields_of(found.bytes);
  if ((file_id && found.fields.file_id != *file_id) || found.fields.generation == 0 ||
      !found.fields.usable_length() || found.fields.trailer_position() != position)
    return std::nullopt;
  return found;
}

}  // namespace

Result<std::optional<FoundSuperblock>> TrailerSearch::ending_at(std::uint64_t file_length) const {
  if (file_length < kMinFileLength || file_length > size_) return std::optional<FoundSuperblock>();
  std::array<std::byte, kSlotUnit> bytes;
  NMB_TRY(file_.read_at(file_length - kSlotUnit, bytes));
  return trailer_in(bytes, file_length - kSlotUnit, file_id_);
}

// Finds the last trailer in [from, to) for which accept() returns true. `from` and `to` are
// multiples of kSlotUnit.
template <class Accept>
Result<std::optional<FoundSuperblock>> TrailerSearch::search(std::uint64_t from, std::uint64_t to,
                                                             Accept accept) {
  std::vector<std::byte> units;
  while (to > from) {
    const std::uint64_t begin = to - std::min(to - from, kUnitsAtOnce * kSlotUnit);
    if (!file_.is_unallocated(begin, to - begin)) {
      units.resize(to - begin);
      NMB_TRY(file_.read_at(begin, units));
      for (std::uint64_t at = to; at > begin;) {
        at -= kSlotUnit;
        const auto unit = std::span(units).subspan(at - begin, kSlotUnit);
        std::optional<FoundSuperblock> found = trailer_in(unit, at, file_id_);
        if (!found) continue;
        NMB_ASSIGN(const bool taken, accept(*found));
        if (taken) return found;
      }
    }
    to = begin;
  }
  return std::optional<FoundSuperblock>();
}

Result<bool> TrailerSearch::follows(const FoundSuperblock& found, const FoundSuperblock& base) {
  if (found.position < base.fields.file_length || found.fields.generation <= base.fields.generation)
    return false;
  std::vector<std::uint64_t> chain;
  FoundSuperblock current = found;
  bool leads = false;
  // The loop ends, because each trailer lies before the trailer that refers to it.
  while (!strangers_.contains(current.position)) {
    chain.push_back(current.position);
    const Place& before = current.fields.previous_trailer;
    if (before.length != kSlotUnit || before.position + kSlotUnit > current.position) break;
    if (current.fields.generation == base.fields.generation + 1) {
      leads = before.position == base.fields.trailer_position() && before.sum == base.sum();
      break;
    }
    if (before.position < base.fields.file_length) break;
    NMB_ASSIGN(std::optional<FoundSuperblock> previous, ending_at(before.position + kSlotUnit));
    if (!previous || previous->fields.generation != current.fields.generation - 1 ||
        previous->sum() != before.sum)
      break;
    current = std::move(*previous);
  }
  if (!leads) strangers_.insert(chain.begin(), chain.end());
  return leads;
}

Result<std::optional<FoundSuperblock>> TrailerSearch::following(const FoundSuperblock& base,
                                                                TrailerScope scope) {
  const std::uint64_t end = size_ / kSlotUnit * kSlotUnit;
  const std::uint64_t begin = base.fields.file_length;
  if (!base.fields.usable_length() || end <= begin) return std::optional<FoundSuperblock>();
  const std::uint64_t from = scope == TrailerScope::kAll ? begin : end - kSlotUnit;
  strangers_.clear();
  stray_.reset();
  return search(from, end, [&](const FoundSuperblock& found) -> Result<bool> {
    NMB_ASSIGN(const bool is_next, follows(found, base));
    if (!is_next && !stray_ && found.fields.generation > base.fields.generation + 1) stray_ = found;
    return is_next;
  });
}

Result<std::optional<FoundSuperblock>> TrailerSearch::last() {
  return search(kBodyStart, std::max(kBodyStart, size_ / kSlotUnit * kSlotUnit),
                [](const FoundSuperblock&) { return Result<bool>(true); });
}

}  // namespace nmb
