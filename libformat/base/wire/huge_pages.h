// Allocates memory in huge pages. Without huge pages, defining 35,530 blocks took 80 MB of memory,
// and a fifth of the time was spent on page faults. With huge pages, lookups among millions of
// names also have fewer TLB misses (spec/rationale.md, "Creating many objects").
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory_resource>
#include <new>

#include "wire/checked.h"

namespace nmb {

inline constexpr std::size_t kHugePage = 2 << 20;
// Smaller amounts of memory come from malloc(), because a rank that defines few objects would waste
// most of a huge page.
inline constexpr std::size_t kWorthHugePages = 2 * kHugePage;

// Returns uninitialized memory, which must be released with free(). Throws std::bad_alloc.
inline void* allocate_huge(std::size_t bytes) {
  const bool huge = bytes >= kWorthHugePages;
  void* const place =
      huge ? std::aligned_alloc(kHugePage, round_up(bytes, kHugePage)) : std::malloc(bytes);
  if (!place) throw std::bad_alloc();
  // madvise() only gives advice. If there are no huge pages, normal pages are used.
  if (huge) (void)madvise(place, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return place;
}

// A memory resource with huge pages for containers of the standard library. Thread-safe.
class HugePageResource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t) override { return allocate_huge(bytes); }
  void do_deallocate(void* place, std::size_t, std::size_t) override { std::free(place); }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace nmb
