// Converts values of variable length from a region of a block to the form that HDF5 has in memory
// (spec/format.md, section 15.1): pointers, hvl_t, references.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "handle.h"
#include "nmb/bytes.h"
#include "nmb/status.h"
#include "types_out.h"

namespace nmb::hdf5 {

// Returns the object with a path in the file being written.
using FindObject = std::function<Result<Handle>(std::string_view path)>;

class HeapOut {
 public:
  // region: offsets in values count from its first byte. All arguments must outlive the object.
  HeapOut(TypesOut& types, const ByteSource& region, const FindObject& find_object);

  // Makes `count` values at `out` (memory_bytes each) from those at `values`. Errors: kLimit if
  // their contents take more than `most` bytes of memory; kDamaged if they refer to bytes outside
  // the region.
  Status convert(Type type, std::span<const std::byte> values, std::uint64_t count,
                 std::uint64_t most, std::byte* out);
  // Returns whether convert() failed only because of `most`: fewer values at a time may succeed.
  bool too_much() const { return too_much_; }
  // Releases the memory of all values made so far.
  void release();

 private:
  Status convert_one(Type type, const std::byte* value, std::byte* out);
  Status convert_string(std::uint64_t count, std::uint64_t offset, std::byte* out);
  Status convert_sequence(Type base, std::uint64_t count, std::uint64_t offset, std::byte* out);
  Status convert_reference(ReferenceKind kind, std::uint64_t count, std::uint64_t offset,
                           std::byte* out);
  // Returns this many zero bytes, valid until release(); nullptr: they would exceed `most`.
  std::byte* hold(std::uint64_t bytes);
  // Reads bytes of the region through a window.
  Status read(std::uint64_t offset, std::span<std::byte> out);
  Status led_to(std::uint64_t bytes);

  TypesOut& types_;
  const ByteSource& region_;
  const FindObject& find_object_;
  std::vector<std::unique_ptr<std::byte[]>> held_;
  std::uint64_t held_bytes_ = 0, most_ = 0;
  bool too_much_ = false;
  // Values may share contents, but not without limit (like the expansion by a codec).
  std::uint64_t all_bytes_ = 0, most_bytes_;
  std::vector<std::byte> window_;
  std::uint64_t window_begin_ = 0;
};

}  // namespace nmb::hdf5
