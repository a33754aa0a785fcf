// Allocates memory in huge pages. In normal pages, defining 35,530 blocks took 80 MB, and page
// faults took a fifth of the time. Huge pages also save TLB misses in lookups among millions of
// names (spec/rationale.md, "Creating many objects").
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory_resource>
#include <new>

#include "wire/checked.h"

namespace nmb {

inline constexpr std::size_t kHugePage = 2 << 20;
// Memory of fewer bytes than this comes from malloc(), because a rank that defines few objects
// would waste most of a huge page.
inline constexpr std::size_t kWorthHugePages = 2 * kHugePage;

// Returns uninitialized memory, which must be released with free(). Throws std::bad_alloc.
inline void* allocate_huge(std::size_t bytes) {
  const bool huge = bytes >= kWorthHugePages;
  void* const place =
      huge ? std::aligned_alloc(kHugePage, round_up(bytes, kHugePage)) : std::malloc(bytes);
  if (!place) throw std::bad_alloc();
  // Normal pages are used if there are no huge pages, because madvise() only gives advice.
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
