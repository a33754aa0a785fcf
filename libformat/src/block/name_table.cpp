// Growth of a NameTable (see nmb/name_table.h).
#include "nmb/name_table.h"

#include <new>
#include <utility>

#include "wire/huge_pages.h"

namespace nmb {

void NameTable::grow() {
  constexpr std::uint32_t kMostSlots = 1u << 31;
  if (slots_ == kMostSlots) throw std::bad_alloc();
  NameTable grown;
  grown.slots_ = empty() ? 2 * kLinear : 2 * slots_;
  grown.used_ = used_;
  const std::uint64_t words = std::uint64_t{grown.slots_} + kWaiting;
  grown.words_.adopt(allocate_huge(words * sizeof(std::uint64_t)), words);
  grown.words_.append_zeros(words);
  const auto apart = [](std::uint32_t, std::uint32_t) { return false; };
  for (std::uint32_t at = 0; at < slots_; ++at)
    if (words_[at] != 0) grown.place(words_[at], apart);
  for (std::uint32_t i = 0; i < kWaiting && !empty(); ++i)
    grown.words_[grown.slots_ + i] = words_[slots_ + i];
  *this = std::move(grown);
}

}  // namespace nmb
