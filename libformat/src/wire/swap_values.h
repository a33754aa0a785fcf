// The order of bytes of many values.
#pragma once

#include <cstddef>

namespace nmb {

// `count` values of `size` bytes, 1, 2, 4 or 8, in the other order. `to` is `from` or does not
// overlap it.
void swap_values(const std::byte* from, std::byte* to, std::size_t count, std::size_t size);

}  // namespace nmb
