// Not for programs, which see it because Metadata builds with it and must inline it.
// NameTable: finds names of a Metadata by open addressing. 8-byte slots of tag << 32 | index + 1,
// at most 7/8 full; the tag is a hash of the name, and its high bits are the first slot to try, so
// growing copies slots in order and reads no name.
// Many names are inserted together, one region of the table after another. Inserted one by one,
// each would wait for memory if the table is larger than the caches, and would take longer if it is
// not (spec/rationale.md, "Creating many objects").
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "nmb/detail/grow_array.h"
#include "nmb/status.h"

namespace nmb {

// Indices are below 2^32 - 1. Concurrent reads are safe; changes are not thread-safe.
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
    for (std::uint32_t at = first_slot(tag); words_[at] != 0; at = next_slot(at))
      if (holds(words_[at])) return index;
    return kAbsent;
  }
  // Indices held.
  std::uint32_t size() const { return used_; }
  // Room for one index more, or std::bad_alloc.
  void reserve_one() {
    if ((std::uint64_t{used_} + 1) * 8 > std::uint64_t{slots_} * 7)
      resize(slots_for(std::uint64_t{used_} + 1));
  }
  // Call after reserve_one(). No index under the tag may have the same name.
  void insert(std::uint32_t tag, std::uint32_t index) {
    std::uint32_t at = first_slot(tag);
    while (words_[at] != 0) at = next_slot(at);
    words_[at] = slot_of(tag, index);
    ++used_;
  }
  // Whether it is faster to insert more names together. Once true, always true.
  bool is_far() const { return slots_ > kNear; }
  // Inserts the indices first, first + 1, ..., one per tag; needs 8 bytes of memory for each, in
  // addition to the table. same(a, b): whether both have the same name. Returns the least index
  // whose name a lower index has, or kAbsent; such indices are left out.
  NMB_EXPORT std::uint32_t insert_all(
      std::uint32_t first, std::span<const std::uint32_t> tags,
      const std::function<bool(std::uint32_t, std::uint32_t)>& same);
  std::size_t memory() const { return words_.capacity() * sizeof(std::uint64_t); }

 private:
  static constexpr std::uint32_t kNear = 1 << 12;

  // The least number of slots of which so many indices take at most 7/8.
  static std::uint64_t slots_for(std::uint64_t indices) {
    const std::uint64_t slots = std::bit_ceil(indices + (indices + 6) / 7);
    return slots < 2 * kLinear ? 2 * kLinear : slots;
  }
  std::uint32_t first_slot(std::uint32_t tag) const {
    return static_cast<std::uint32_t>(std::uint64_t{tag} >> (32 - std::countr_zero(slots_)));
  }
  std::uint32_t next_slot(std::uint32_t at) const { return (at + 1) & (slots_ - 1); }
  static std::uint64_t slot_of(std::uint32_t tag, std::uint32_t index) {
    return std::uint64_t{tag} << 32 | (index + 1);
  }
  void swap(NameTable& other) noexcept {
    words_.swap(other.words_);
    std::swap(slots_, other.slots_);
    std::swap(used_, other.used_);
  }
  // Throws std::bad_alloc past 2^31 slots.
  NMB_EXPORT void resize(std::uint64_t slots);

  GrowArray<std::uint64_t> words_;  // the slots, 0: free
  std::uint32_t slots_ = 0;         // none or a power of two from 2 * kLinear on
  std::uint32_t used_ = 0;
};

}  // namespace nmb
