// HeapValue is a value of variable length. Such a value refers to bytes that are stored elsewhere
// (spec/extended.md, section 15.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/bytes.h"
#include "wire/endian.h"

namespace nmb {

struct HeapValue {
  std::uint64_t count = 0;  // number of elements
  std::uint64_t offset =
      0;  // offset of the first element in the region; 0 if there are no elements

  // Decodes a value. `value` has TypeTable::kHeapValue bytes.
  static HeapValue load(const std::byte* value) {
    return {load_le<std::uint64_t>(value), load_le<std::uint64_t>(value + 8)};
  }
  bool is_null() const { return offset == 0; }
  // Returns the elements, each of `size` bytes. A null value has no elements. `left` is the number
  // of bytes to which the values of the region may still lead: the region's size before the first
  // value. The function subtracts from it. Errors: kDamaged, R-XV-1 if the elements do not lie
  // within the region, R-XV-2 if *left is too small.
  Result<std::vector<std::byte>> read(const ByteSource& region, std::uint64_t size,
                                      std::uint64_t* left) const;
};

}  // namespace nmb
