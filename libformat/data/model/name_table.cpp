#include "model/name_table.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "wire/huge_pages.h"

namespace nmb {

namespace {

// Binary logarithm of the number of slots in a region. A region has 128 KiB and is filled in one
// pass.
constexpr unsigned kRegionBits = 14;

GrowArray<std::uint64_t> zeros(std::uint64_t count) {
  GrowArray<std::uint64_t> words;
  words.adopt(allocate_huge(count * sizeof(std::uint64_t)), count);
  words.append_zeros(count);
  return words;
}

}  // namespace

void NameTable::resize(std::uint64_t slots) {
  constexpr std::uint64_t kMostSlots = 1u << 31;
  if (slots > kMostSlots) throw std::bad_alloc();
  NameTable resized;
  resized.slots_ = static_cast<std::uint32_t>(slots);
  resized.words_ = zeros(slots);
  for (std::uint32_t at = 0; at < slots_; ++at)
    if (words_[at] != 0)
      resized.insert(static_cast<std::uint32_t>(words_[at] >> 32),
                     static_cast<std::uint32_t>(words_[at]) - 1);
  *this = std::move(resized);
}

std::uint32_t NameTable::insert_all(std::uint32_t first, std::span<const std::uint32_t> tags,
                                    const std::function<bool(std::uint32_t, std::uint32_t)>& same) {
  const std::uint64_t slots = slots_for(std::uint64_t{used_} + tags.size());
  if (slots > slots_) resize(slots);

  // Sort the entries by region and, within a region, by index.
  const int region_shift =
      32 - std::min(std::countr_zero(slots_), 31) + static_cast<int>(kRegionBits);
  const auto region = [&](std::uint32_t tag) {
    return region_shift >= 32 ? 0 : tag >> region_shift;
  };
  std::vector<std::uint32_t> ends(region(~std::uint32_t{0}) + 1);
  for (const std::uint32_t tag : tags) ++ends[region(tag)];
  std::uint32_t end = 0;
  for (std::uint32_t& place : ends) place = std::exchange(end, end + place);
  GrowArray<std::uint64_t> ordered = zeros(tags.size());
  for (std::uint32_t i = 0; i < tags.size(); ++i)
    ordered[ends[region(tags[i])]++] = slot_of(tags[i], first + i);

  std::uint32_t clash = kAbsent;
  for (const std::uint64_t slot : ordered) {
    const auto tag = static_cast<std::uint32_t>(slot >> 32);
    const auto index = static_cast<std::uint32_t>(slot) - 1;
    if (find(tag, [&](std::uint32_t known) { return same(known, index); }) == kAbsent)
      insert(tag, index);
    else
      clash = std::min(clash, index);
  }
  return clash;
}

}  // namespace nmb
