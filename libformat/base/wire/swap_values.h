#pragma once

#include <cstddef>

namespace nmb {

// Copies `count` values of `size` bytes (1, 2, 4 or 8) with their bytes in reverse order. `to` must
// equal `from`, or the ranges must not overlap.
void swap_values(const std::byte* from, std::byte* to, std::size_t count, std::size_t size);

}  // namespace nmb
