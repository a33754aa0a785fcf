// Reads the global heap, which has the attribute values of variable length, from the bytes of the
// file (HDF5 File Format Specification 3.0, III.E).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nmb::hdf5 {

class GlobalHeapIn {
 public:
  // The arguments are as for ObjectHeaderIn.
  GlobalHeapIn(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}

  // Returns an object of the collection at `address`, valid until the next call. Returns nullopt if
  // the object does not exist or the collection is too large.
  std::optional<std::span<const std::byte>> object(std::uint64_t address, std::uint32_t index);

 private:
  struct Object {
    std::size_t begin = 0, length = 0;  // in bytes_
    bool present = false;
  };
  bool read(std::uint64_t address);

  const int descriptor_;
  const std::uint64_t size_;
  std::optional<std::uint64_t> address_;  // address of the collection that was read last
  std::vector<std::byte> bytes_;
  std::vector<Object> objects_;  // by index
};

}  // namespace nmb::hdf5
