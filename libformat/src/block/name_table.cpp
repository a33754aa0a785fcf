// Growth of a NameTable (see nmb/name_table.h).
#include "nmb/name_table.h"

#include <new>
#include <span>
#include <utility>

#include "wire/huge_pages.h"

namespace nmb {

void NameTable::grow() {
  constexpr std::uint32_t kMostSlots = 1u << 31;
  if (slots_ == kMostSlots) throw std::bad_alloc();
  NameTable grown;
  grown.slots_ = empty() ? 2 * kLinear : 2 * slots_;
  grown.used_ = used_;
  const std::uint64_t words = std::uint64_t{grown.slots_} + kWaiting + grown.slots_ / 16;
  grown.words_.adopt(allocate_huge(words * sizeof(std::uint64_t)), words);
  grown.words_.append_zeros(words);
  if (!empty()) {
    for (const std::uint64_t slot : std::span(words_.data(), slots_ + kWaiting)) {
      if (slot == 0) continue;
      const auto tag = static_cast<std::uint32_t>(slot >> 32);
      grown.place(slot);
      grown.words_[grown.filter_word(tag)] |= filter_bits(tag);
    }
  }
  *this = std::move(grown);
}

}  // namespace nmb
