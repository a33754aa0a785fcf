// Converts values from HDF5's form in memory to the form in a region of kind heap
// (spec/extended.md, section 15.1).
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/extension.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// Functions that find the targets of references.
struct References {
  // Returns the path of the object to which `reference` (in HDF5's form in memory) refers. The path
  // of a null reference is empty.
  std::function<Result<std::string>(const void* reference)> object;
  // Returns the form in which a block stores a reference to a region. The form of a null reference
  // is empty.
  std::function<Result<std::vector<std::byte>>(const void* reference)> region;
};

// The bytes to which values of variable length refer.
class Heap {
 public:
  // `begin` is the offset of the heap from the start of the region.
  explicit Heap(std::uint64_t begin) : end_(begin) {}
  // Appends `bytes`, and returns their offset from the start of the region.
  std::uint64_t add(std::span<const std::byte> bytes);
  // Returns the offset that the next bytes will have.
  std::uint64_t end() const { return end_; }
  // Returns the bytes that were added since the last call.
  std::vector<std::byte> take() { return std::exchange(bytes_, {}); }
  std::size_t held() const { return bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
  std::uint64_t end_;
};

// Values that HDF5 has read into memory.
struct ReadValues {
  std::vector<std::byte> bytes;
  hid_t type, space;
  // Frees the memory that HDF5 allocated for values of variable length.
  ~ReadValues() {
    if (space >= 0) H5Dvlen_reclaim(type, space, H5P_DEFAULT, bytes.data());
  }
};

// Encodes `count` values of `type` at `from`, and appends them to `out`.
Status encode_values(const TypeTable& types, Type type, const References& references,
                     const std::byte* from, std::uint64_t count, std::vector<std::byte>* out,
                     Heap* heap);

}  // namespace nmb::hdf5
