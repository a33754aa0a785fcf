// HeapValue: a value of variable length, which refers to bytes that are stored elsewhere
// (spec/extended.md, section 15.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/bytes.h"
#include "wire/endian.h"

namespace nmb {

struct HeapValue {
  std::uint64_t count = 0;   // number of elements
  std::uint64_t offset = 0;  // offset of the first element in the region; 0 without elements

  // Decodes a value. `value` has TypeTable::kHeapValue bytes.
  static HeapValue load(const std::byte* value) {
    return {load_le<std::uint64_t>(value), load_le<std::uint64_t>(value + 8)};
  }
  bool is_null() const { return offset == 0; }
  // Returns the elements, each of `size` bytes. A null value has no elements. *left: number of
  // bytes of the region to which values may still refer, at first the region's size. The function
  // subtracts the bytes that it returns. Errors: kDamaged, R-XV-1 if the elements do not lie within
  // the region, R-XV-2 if *left is too small.
  Result<std::vector<std::byte>> read(const ByteSource& region, std::uint64_t size,
                                      std::uint64_t* left) const;
};

}  // namespace nmb
