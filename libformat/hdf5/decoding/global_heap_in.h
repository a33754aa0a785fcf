// Reads the global heap from the bytes of the file. The global heap contains the attribute values
// of variable length (HDF5 File Format Specification 3.0, III.E).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decoding/file_bytes.h"

namespace nmb::hdf5 {

class GlobalHeapIn {
 public:
  explicit GlobalHeapIn(const FileBytes& file) : file_(file) {}

  // Returns the bytes of an object in the collection at `address`. The bytes are valid until the
  // next call. Returns nullopt if the object does not exist or the collection is too large.
  std::optional<std::span<const std::byte>> object(std::uint64_t address, std::uint32_t index);

 private:
  struct Object {
    std::size_t begin = 0, length = 0;  // in bytes_
    bool present = false;
  };
  bool read(std::uint64_t address);

  const FileBytes file_;
  std::optional<std::uint64_t> address_;  // address of the collection that was read last
  std::vector<std::byte> bytes_;
  std::vector<Object> objects_;  // by index
};

}  // namespace nmb::hdf5
