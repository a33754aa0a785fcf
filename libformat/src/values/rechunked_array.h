// RechunkedArray: the array of a variable, divided into chunks of any shape (spec/format.md,
// section 15.2). The chunks are decoded; no filters are applied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hdf5/model/hdf5_section.h"
#include "nmb/dataset.h"
#include "nmb/status.h"
#include "nmb/values.h"
#include "values/array_source.h"
#include "values/gathered_chunk.h"

namespace nmb {

// Thread-safe if the extent of the dataset is thread-safe.
class RechunkedArray {
 public:
  // `chunk` has one length for each dimension; no length is 0. `cache_bytes` limits the decoded
  // chunks that are kept because several new chunks have values of them. Errors: those of
  // value_array(), and kLimit.
  static Result<RechunkedArray> open(const Dataset& dataset, VarId variable,
                                     std::span<const hdf5::Property> properties,
                                     ChunkGrid::Lengths chunk, std::uint64_t cache_bytes);

  // Reverses the bytes of each value in all chunks that are read from now on.
  void swap_bytes() { is_swapped_ = true; }
  const ChunkGrid& grid() const { return grid_; }
  // Returns the values of a chunk. The result is empty if none of them was ever written. Elements
  // outside the array have the fill value, which HDF5 shows there when the array grows. A stored
  // chunk is decoded once if one new chunk has all of its values. Errors: kDamaged; kLimit; kIo.
  Result<std::vector<std::byte>> chunk(std::uint64_t number) const;

 private:
  RechunkedArray() = default;
  Result<std::vector<std::byte>> stored_values(std::uint64_t number) const;

  ChunkGrid grid_;
  std::vector<std::byte> fill_;  // one value
  bool is_hole_ = false;         // whether no value was ever written
  bool is_swapped_ = false;
  // The stored chunks, if one new chunk has all values of each.
  std::optional<BoxInChunks> stored_;
  // The array, if `stored_` is not set.
  Source array_;
};

}  // namespace nmb
