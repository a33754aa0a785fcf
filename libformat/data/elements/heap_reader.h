// HeapReader: reads the bytes to which values of variable length refer, and collects them for the
// caller's memory (spec/extended.md, section 15.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/heap_value.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

class HeapReader {
 public:
  // region: the bytes to which values refer; nullptr if there are none. out: the caller's heap, to
  // which bytes are appended. Both must outlive the object.
  HeapReader(const ByteSource* region, std::vector<std::byte>* out)
      : region_(region), left_(region ? region->size() : 0), out_(*out) {}

  // Returns the elements of a value, each of `size` bytes. The result is valid until the next call.
  // All calls together may return at most as many bytes as the region has. Errors: kDamaged
  // (R-XV-1, R-XV-2); those of reading.
  Result<std::span<const std::byte>> read(HeapValue value, std::uint64_t size);
  std::vector<std::byte>& out() { return out_; }

 private:
  // A value that directly follows the value before is read together with the bytes behind it.
  static constexpr std::uint64_t kAhead = 65536;

  const ByteSource* const region_;
  std::uint64_t left_;
  std::uint64_t begin_ = 0;  // offset of the window in the region
  std::vector<std::byte> window_;
  std::vector<std::byte>& out_;
};

}  // namespace nmb
