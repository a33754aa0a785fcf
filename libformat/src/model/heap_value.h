// HeapValue: a value of variable length, which leads to bytes elsewhere (spec/format.md, section
// 15.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nmb/bytes.h"
#include "wire/endian.h"

namespace nmb {

struct HeapValue {
  std::uint64_t count = 0;   // elements
  std::uint64_t offset = 0;  // of the first; 0: there are none

  // Of TypeTable::kHeapValue bytes.
  static HeapValue load(const std::byte* value) {
    return {load_le<std::uint64_t>(value), load_le<std::uint64_t>(value + 8)};
  }
  bool is_null() const { return offset == 0; }
  // The elements, of `size` bytes each; none of a null value. kDamaged (R-XV-1): they lie outside
  // of the region.
  Result<std::vector<std::byte>> read(const ByteSource& region, std::uint64_t size) const;
};

}  // namespace nmb
