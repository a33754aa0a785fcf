// HeapValue: a value of variable length, which refers to bytes elsewhere (spec/format.md, section
// 15.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nmb/bytes.h"
#include "wire/endian.h"

namespace nmb {

struct HeapValue {
  std::uint64_t count = 0;   // number of elements
  std::uint64_t offset = 0;  // of the first element; 0: there are none

  // value: TypeTable::kHeapValue bytes.
  static HeapValue load(const std::byte* value) {
    return {load_le<std::uint64_t>(value), load_le<std::uint64_t>(value + 8)};
  }
  bool is_null() const { return offset == 0; }
  // Returns the elements, of `size` bytes each; none for a null value. Errors: kDamaged (R-XV-1):
  // they lie outside of the region.
  Result<std::vector<std::byte>> read(const ByteSource& region, std::uint64_t size) const;
};

}  // namespace nmb
