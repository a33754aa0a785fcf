// Swaps the bytes of many values.
#pragma once

#include <cstddef>

namespace nmb {

// Copies `count` values of `size` bytes (1, 2, 4 or 8) with their bytes in reverse order. `to`
// equals `from` or does not overlap it.
void swap_values(const std::byte* from, std::byte* to, std::size_t count, std::size_t size);

}  // namespace nmb
