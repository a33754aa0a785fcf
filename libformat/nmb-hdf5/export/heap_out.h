// Converts values of variable length from the form in a region of a block (spec/extended.md,
// section 15.1) to the form in the memory of HDF5: pointers, hvl_t and references.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "export/types_out.h"
#include "handle.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// Returns the object at `path` in the file that is being written.
using FindObject = std::function<Result<Handle>(std::string_view path)>;

class HeapOut {
 public:
  // Offsets in values count from the first byte of `region`. All arguments must outlive the object.
  HeapOut(TypesOut& types, const ByteSource& region, const FindObject& find_object);

  // Converts `count` values at `values`, and stores them at `out`, where each value takes
  // memory_bytes() bytes. Errors: kLimit if the bytes to which the values refer take more than
  // `most` bytes of memory; kDamaged if values refer to bytes outside the region.
  Status convert(Type type, std::span<const std::byte> values, std::uint64_t count,
                 std::uint64_t most, std::byte* out);
  // Returns whether convert() failed only because of `most`. If so, a call of convert() for fewer
  // values may succeed.
  bool too_much() const { return too_much_; }
  // Releases the memory of all values that were converted so far.
  void release();

 private:
  Status convert_one(Type type, const std::byte* value, std::byte* out);
  Status convert_string(std::uint64_t count, std::uint64_t offset, std::byte* out);
  Status convert_sequence(Type base, std::uint64_t count, std::uint64_t offset, std::byte* out);
  Status convert_reference(ReferenceKind kind, std::uint64_t count, std::uint64_t offset,
                           std::byte* out);
  // Returns a buffer of `bytes` zero bytes, which is valid until release(). Returns nullptr if the
  // buffer would exceed `most`.
  std::byte* hold(std::uint64_t bytes);
  // Reads bytes of the region. Short reads take the bytes from window_.
  Status read(std::uint64_t offset, std::span<std::byte> out);

  TypesOut& types_;
  const ByteSource& region_;
  const FindObject& find_object_;
  std::vector<std::unique_ptr<std::byte[]>> held_;
  std::uint64_t held_bytes_ = 0, most_ = 0;
  bool too_much_ = false;
  std::uint64_t left_;  // number of bytes to which the next values may lead (R-XV-2)
  std::vector<std::byte> window_;
  std::uint64_t window_begin_ = 0;
};

}  // namespace nmb::hdf5
