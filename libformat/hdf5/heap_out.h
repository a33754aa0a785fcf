// Values of variable length, from a region of a block to the form that HDF5 has in memory
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

// The object of the file being written that has a path.
using FindObject = std::function<Result<Handle>(std::string_view path)>;

class HeapOut {
 public:
  // region: offsets of values count from its first byte. All outlive this.
  HeapOut(TypesOut& types, const ByteSource& region, const FindObject& find_object);

  // Makes `count` values at `out` (memory_bytes each) of those at `values`. kLimit: they lead to
  // more than `most` bytes in memory that is held; kDamaged: they lead out of the region.
  Status convert(Type type, std::span<const std::byte> values, std::uint64_t count,
                 std::uint64_t most, std::byte* out);
  // Whether convert() failed for `most` alone: fewer values at once may do.
  bool too_much() const { return too_much_; }
  // Gives back what the values made so far lead to.
  void release();

 private:
  Status convert_one(Type type, const std::byte* value, std::byte* out);
  Status convert_string(std::uint64_t count, std::uint64_t offset, std::byte* out);
  Status convert_sequence(Type base, std::uint64_t count, std::uint64_t offset, std::byte* out);
  Status convert_reference(ReferenceKind kind, std::uint64_t count, std::uint64_t offset,
                           std::byte* out);
  // Room for so many bytes, zero, until release(); nullptr: past `most`.
  std::byte* hold(std::uint64_t bytes);
  // Bytes of the region, by way of a window.
  Status read(std::uint64_t offset, std::span<std::byte> out);
  Status led_to(std::uint64_t bytes);

  TypesOut& types_;
  const ByteSource& region_;
  const FindObject& find_object_;
  std::vector<std::unique_ptr<std::byte[]>> held_;
  std::uint64_t held_bytes_ = 0, most_ = 0;
  bool too_much_ = false;
  // What values lead to may be shared, but not without end (as a codec's expansion).
  std::uint64_t all_bytes_ = 0, most_bytes_;
  std::vector<std::byte> window_;
  std::uint64_t window_begin_ = 0;
};

}  // namespace nmb::hdf5
