#include "wire/swap_values.h"

#include <cstdint>
#include <cstring>

#include "wire/endian.h"

namespace nmb {

namespace {

#define NMB_INLINE [[gnu::always_inline]] inline

template <class T>
NMB_INLINE void swap_each(const std::byte* from, std::byte* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof value, sizeof value);
    value = byte_swapped(value);
    std::memcpy(to + i * sizeof value, &value, sizeof value);
  }
}

template <class T>
NMB_INLINE void swap_of(const std::byte* from, std::byte* to, std::size_t count) {
  // Compilers vectorize a loop over one pointer, but not over two pointers that may be equal.
  if (from == to)
    swap_each<T>(to, to, count);
  else
    swap_each<T>(from, to, count);
}

NMB_INLINE void swap_any(const std::byte* from, std::byte* to, std::size_t count,
                         std::size_t size) {
  if (size == 2) swap_of<std::uint16_t>(from, to, count);
  if (size == 4) swap_of<std::uint32_t>(from, to, count);
  if (size == 8) swap_of<std::uint64_t>(from, to, count);
  if (size == 1 && from != to && count > 0) std::memcpy(to, from, count);
}

#undef NMB_INLINE

#ifdef __x86_64__
[[gnu::target("avx2")]] void swap_by_avx2(const std::byte* from, std::byte* to, std::size_t count,
                                          std::size_t size) {
  swap_any(from, to, count, size);
}
#endif

}  // namespace

void swap_values(const std::byte* from, std::byte* to, std::size_t count, std::size_t size) {
#ifdef __x86_64__
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx2) return swap_by_avx2(from, to, count, size);
#endif
  swap_any(from, to, count, size);
}

}  // namespace nmb
