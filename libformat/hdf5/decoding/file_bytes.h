// The bytes of an HDF5 file at the addresses that its metadata state. An address counts from the
// end of the user block, if there is one.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "encoding/hdf5_bytes.h"

namespace nmb::hdf5 {

constexpr std::size_t kMostRank = 32;  // maximum number of dimensions
constexpr std::size_t kSum = 4;        // bytes of a checksum

class FileBytes {
 public:
  // `descriptor` is an open file of `size` bytes; the caller closes it. `base` is the offset of
  // address 0 in the file. The addresses and lengths in the file must have 8 bytes.
  FileBytes(int descriptor, std::uint64_t size, std::uint64_t base = 0)
      : descriptor_(descriptor), base_(std::min(base, size)), size_(size - base_) {}

  // Returns the number of bytes from address 0 to the end of the file.
  std::uint64_t size() const { return size_; }
  bool has(std::uint64_t address, std::uint64_t length) const {
    return address <= size_ && length <= size_ - address;
  }
  // Reads the bytes at `address`. Returns false if the file does not have them.
  bool read(std::uint64_t address, std::span<std::byte> out) const {
    return has(address, out.size()) &&
           pread(descriptor_, out.data(), out.size(), static_cast<off_t>(base_ + address)) ==
               static_cast<ssize_t>(out.size());
  }
  // Returns the offset of an address in the file. kUndefinedAddress remains the same.
  std::uint64_t offset_of(std::uint64_t address) const {
    return address == kUndefinedAddress ? address : base_ + address;
  }

 private:
  int descriptor_;
  std::uint64_t base_;
  std::uint64_t size_;
};

// Returns the little-endian number that the bytes (at most 8) encode.
inline std::uint64_t load_le_bytes(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

}  // namespace nmb::hdf5
