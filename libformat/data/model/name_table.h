// Internal to the library. This header is public only because Metadata has members of this class
// and must inline its functions. NameTable: a hash table to find names in a Metadata. The table
// uses open addressing. Each slot has 8 bytes: tag << 32 | index + 1, where the tag is a hash of
// the name. At most 7/8 of the slots are used. The high bits of a tag are the number of the first
// slot to try. The table can therefore grow by copying slots in order, without reading names. Many
// names are inserted together, one region of the table after another. Inserting them one by one
// would be slower if the table is larger than the CPU caches, because each insertion would wait for
// memory (spec/rationale.md, "Creating many objects").
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "wire/failure.h"
#include "wire/grow_array.h"

namespace nmb {

// Indices are below 2^32 - 1. Concurrent reads are safe; changes are not thread-safe.
class NameTable {
 public:
  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};
  // Up to this number of names, a linear search is as fast as a table.
  static constexpr std::uint32_t kLinear = 32;

  NameTable() = default;
  NameTable(const NameTable&) = default;
  NameTable(NameTable&& other) noexcept { swap(other); }  // `other` becomes empty
  NameTable& operator=(NameTable other) noexcept {
    swap(other);
    return *this;
  }

  bool empty() const { return slots_ == 0; }
  // Returns the index with this tag for which same(index) is true, or kAbsent.
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
  // Returns the number of indices in the table.
  std::uint32_t size() const { return used_; }
  // Reserves room for one more index. May throw std::bad_alloc.
  void reserve_one() {
    if ((std::uint64_t{used_} + 1) * 8 > std::uint64_t{slots_} * 7)
      resize(slots_for(std::uint64_t{used_} + 1));
  }
  // Inserts an index, whose name must not be in the table yet. Call reserve_one() first.
  void insert(std::uint32_t tag, std::uint32_t index) {
    std::uint32_t at = first_slot(tag);
    while (words_[at] != 0) at = next_slot(at);
    words_[at] = slot_of(tag, index);
    ++used_;
  }
  // Returns whether the table is so large that it is faster to insert further names together. Once
  // the result is true, it stays true.
  bool is_far() const { return slots_ > kNear; }
  // Inserts one index for each tag: `first` for the first tag, `first` + 1 for the next tag, and so
  // on. Needs 8 bytes of memory for each index, in addition to the table. `same(a, b)` must return
  // whether the indices a and b have the same name. An index is left out if a lower index has the
  // same name. Returns the lowest index that was left out, or kAbsent.
  NMB_EXPORT std::uint32_t insert_all(
      std::uint32_t first, std::span<const std::uint32_t> tags,
      const std::function<bool(std::uint32_t, std::uint32_t)>& same);
  std::size_t memory() const { return words_.capacity() * sizeof(std::uint64_t); }

 private:
  static constexpr std::uint32_t kNear = 1 << 12;

  // Returns the least number of slots that is enough for `indices` indices, which may fill at most
  // 7/8 of the slots.
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
  // Throws std::bad_alloc for more than 2^31 slots.
  NMB_EXPORT void resize(std::uint64_t slots);

  GrowArray<std::uint64_t> words_;  // the slots; a free slot is 0
  std::uint32_t slots_ = 0;         // 0, or a power of two that is at least 2 * kLinear
  std::uint32_t used_ = 0;
};

}  // namespace nmb
