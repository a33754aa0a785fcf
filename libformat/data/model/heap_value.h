// HeapValue: a value of variable length, which refers to bytes that are stored elsewhere
// (spec/extended.md, section 15.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/extension.h"
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
  // Returns the number of bytes of the elements, each of `size` bytes, and subtracts it from *left.
  // region: number of bytes of the region. Errors: those of read().
  Result<std::uint64_t> take(std::uint64_t region, std::uint64_t size, std::uint64_t* left) const;
  // Returns the elements, each of `size` bytes. A null value has no elements. *left: number of
  // bytes of the region to which values may still refer, at first the region's size. The function
  // subtracts the bytes that it returns. Errors: kDamaged, R-XV-1 if the elements do not lie within
  // the region, R-XV-2 if *left is too small.
  Result<std::vector<std::byte>> read(const ByteSource& region, std::uint64_t size,
                                      std::uint64_t* left) const;
};

// A part of a value that is a value of variable length. Its elements have `element_bytes` bytes
// each.
struct HeapPlace {
  std::uint64_t offset = 0;  // from the start of the value
  std::uint64_t element_bytes = 1;
};

// Returns the parts of a value of `type` that refer to a heap. Returns nullopt if a value contains
// references, if elements refer to a heap too, or if there are more than 4,096 such parts.
std::optional<std::vector<HeapPlace>> heap_places(const TypeTable& types, Type type);

}  // namespace nmb
