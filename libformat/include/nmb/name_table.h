// NameTable: where names of a Metadata are, by open addressing. 8-byte slots of tag << 32 | index +
// 1, at most 7/8 full; the tag is a hash of the name, and its high bits are the first place to
// look, so growing copies in order and reads no name.
//
// A table past the caches would make every new name wait for memory. There, a slot is fetched when
// a name comes and looked at when a few more have come (spec/rationale.md, "Creating many
// objects").
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "nmb/export.h"
#include "nmb/grow_array.h"

namespace nmb {

// Indices below 2^32 - 1. Not thread-safe while it changes; reading is.
class NameTable {
 public:
  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};
  // Up to here a linear search is as fast and needs no table.
  static constexpr std::uint32_t kLinear = 32;

  NameTable() = default;
  NameTable(const NameTable&) = default;
  NameTable(NameTable&& other) noexcept { swap(other); }  // leaves an empty table
  NameTable& operator=(NameTable other) noexcept {
    swap(other);
    return *this;
  }

  bool empty() const { return slots_ == 0; }
  // The index under `tag` for which same(index), or kAbsent.
  template <class Same>
  std::uint32_t find(std::uint32_t tag, Same same) const {
    if (empty()) return kAbsent;
    std::uint32_t index = 0;
    const auto holds = [&](std::uint64_t slot) {
      index = static_cast<std::uint32_t>(slot) - 1;
      return slot != 0 && slot >> 32 == tag && same(index);
    };
    for (const std::uint64_t slot : waiting())
      if (holds(slot)) return index;
    for (std::uint32_t at = first_slot(tag); words_[at] != 0; at = next_slot(at))
      if (holds(words_[at])) return index;
    return kAbsent;
  }
  // Room for one index more, or std::bad_alloc.
  void reserve_one() {
    if ((std::uint64_t{used_} + 1) * 8 > std::uint64_t{slots_} * 7) grow();
  }
  // After reserve_one; no index under the tag may have the name.
  void insert(std::uint32_t tag, std::uint32_t index) {
    place(slot_of(tag, index), [](std::uint32_t, std::uint32_t) { return false; });
    ++used_;
  }
  // Whether the table is past the caches. Never again false.
  bool is_far() const { return slots_ > kNear; }
  // After reserve_one, of a table that is far: looks at the slot of the index that came kWaiting
  // before. same(a, b): of one name. An index whose name another has, or kAbsent.
  template <class Same>
  std::uint32_t insert_later(std::uint32_t tag, std::uint32_t index, Same same) {
    __builtin_prefetch(&words_[first_slot(tag)], 1);
    std::uint64_t& waiting = words_[slots_ + used_++ % kWaiting];
    const std::uint32_t clash = waiting == 0 ? kAbsent : place(waiting, same);
    waiting = slot_of(tag, index);
    return clash;
  }
  // Looks at all that wait; as insert_later.
  template <class Same>
  std::uint32_t settle(Same same) {
    std::uint32_t clash = kAbsent;
    for (std::uint32_t i = 0; i < kWaiting && !empty(); ++i) {
      std::uint64_t& waiting = words_[slots_ + (used_ + i) % kWaiting];
      if (waiting == 0) continue;
      const std::uint32_t found = place(waiting, same);
      if (clash == kAbsent) clash = found;
      waiting = 0;
    }
    return clash;
  }
  std::size_t memory() const { return words_.capacity() * sizeof(std::uint64_t); }

 private:
  static constexpr std::uint32_t kWaiting = 8;
  static constexpr std::uint32_t kNear = 1 << 16;

  std::span<const std::uint64_t> waiting() const { return {words_.data() + slots_, kWaiting}; }
  std::uint32_t first_slot(std::uint32_t tag) const {
    return static_cast<std::uint32_t>(std::uint64_t{tag} >> (32 - std::countr_zero(slots_)));
  }
  std::uint32_t next_slot(std::uint32_t at) const { return (at + 1) & (slots_ - 1); }
  static std::uint64_t slot_of(std::uint32_t tag, std::uint32_t index) {
    return std::uint64_t{tag} << 32 | (index + 1);
  }
  template <class Same>
  std::uint32_t place(std::uint64_t slot, Same same) {
    const auto index = static_cast<std::uint32_t>(slot) - 1;
    std::uint32_t clash = kAbsent;
    std::uint32_t at = first_slot(static_cast<std::uint32_t>(slot >> 32));
    for (; words_[at] != 0; at = next_slot(at))
      if (words_[at] >> 32 == slot >> 32 && same(static_cast<std::uint32_t>(words_[at]) - 1, index))
        clash = index;
    words_[at] = slot;
    return clash;
  }
  void swap(NameTable& other) noexcept {
    words_.swap(other.words_);
    std::swap(slots_, other.slots_);
    std::swap(used_, other.used_);
  }
  NMB_EXPORT void grow();

  // slots_ slots (0: free), then kWaiting of names that are not in their slots yet (0: none).
  GrowArray<std::uint64_t> words_;
  std::uint32_t slots_ = 0;  // none or a power of two from 2 * kLinear on
  std::uint32_t used_ = 0;
};

}  // namespace nmb
