// NameTable: where names of a Metadata are, by open addressing. 8-byte slots of tag << 32 | index +
// 1, at most 7/8 full; the tag is a hash of the name, and its high bits are the first place to
// look, so growing copies in order and reads no name.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "nmb/export.h"
#include "nmb/grow_array.h"

namespace nmb {

// Indices below 2^32 - 1. Not thread-safe while it changes; reading is.
class NameTable {
 public:
  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};
  // Up to here a linear search is as fast and needs no table.
  static constexpr std::uint32_t kLinear = 32;

  bool empty() const { return slots_ == 0; }
  // The index under `tag` for which same(index), or kAbsent.
  template <class Same>
  std::uint32_t find(std::uint32_t tag, Same same) const {
    if (empty() || !may_hold(tag)) return kAbsent;
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
  // After reserve_one. The index must not be there.
  void insert(std::uint32_t tag, std::uint32_t index) {
    __builtin_prefetch(&words_[first_slot(tag)], 1);
    std::uint64_t& waiting = words_[slots_ + used_++ % kWaiting];
    if (waiting != 0) place(waiting);
    waiting = std::uint64_t{tag} << 32 | (index + 1);
    words_[filter_word(tag)] |= filter_bits(tag);
  }
  std::size_t memory() const { return words_.capacity() * sizeof(std::uint64_t); }

 private:
  static constexpr std::uint32_t kWaiting = 8;

  std::span<const std::uint64_t> waiting() const { return {words_.data() + slots_, kWaiting}; }
  std::uint32_t first_slot(std::uint32_t tag) const {
    return static_cast<std::uint32_t>(std::uint64_t{tag} >> (32 - std::countr_zero(slots_)));
  }
  std::uint32_t next_slot(std::uint32_t at) const { return (at + 1) & (slots_ - 1); }
  void place(std::uint64_t slot) {
    std::uint32_t at = first_slot(static_cast<std::uint32_t>(slot >> 32));
    while (words_[at] != 0) at = next_slot(at);
    words_[at] = slot;
  }
  // A second hash, of the tag.
  static std::uint64_t mixed(std::uint32_t tag) { return tag * 0x9E3779B97F4A7C15u; }
  std::uint64_t filter_word(std::uint32_t tag) const {
    return std::uint64_t{slots_} + kWaiting + (mixed(tag) >> 32 & (slots_ / 16 - 1));
  }
  static std::uint64_t filter_bits(std::uint32_t tag) {
    const std::uint64_t bits = mixed(tag), one = 1;
    return one << (bits & 63) | one << (bits >> 6 & 63);
  }
  bool may_hold(std::uint32_t tag) const {
    return (words_[filter_word(tag)] & filter_bits(tag)) == filter_bits(tag);
  }
  NMB_EXPORT void grow();

  // slots_ slots (0: free), kWaiting of names that are not in their slots yet, slots_ / 16 words of
  // the filter.
  GrowArray<std::uint64_t> words_;
  std::uint32_t slots_ = 0;  // none or a power of two from 2 * kLinear on
  std::uint32_t used_ = 0;
};

}  // namespace nmb
