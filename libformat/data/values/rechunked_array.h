// RechunkedArray: the array of a variable, divided into chunks of any shape (spec/extended.md,
// section 15.2). The chunks are decoded; no filters are applied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hdf5_types/hdf5_section.h"
#include "model/dataset.h"
#include "model/values.h"
#include "sources/value_source.h"
#include "values/gathered_chunk.h"
#include "wire/failure.h"

namespace nmb {

// Thread-safe if the extent of the dataset is.
class RechunkedArray {
 public:
  // chunk: one length for each dimension; no length is 0. cache_bytes: limits the memory for
  // decoded stored chunks that several new chunks need. Errors: those of value_array(), and kLimit.
  static Result<RechunkedArray> open(const Dataset& dataset, VarId variable,
                                     std::span<const hdf5::Property> properties,
                                     ChunkGrid::Lengths chunk, std::uint64_t cache_bytes);

  const ChunkGrid& grid() const { return grid_; }
  // Returns the values of a chunk. The result is empty if no value was ever written. Elements
  // beyond the end of the array have the fill value, because HDF5 shows them when the array grows.
  // A stored chunk whose values all lie in one new chunk is decoded only once. Errors: kDamaged;
  // kLimit; kIo.
  Result<std::vector<std::byte>> chunk(std::uint64_t number) const;

 private:
  RechunkedArray() = default;

  ChunkGrid grid_;
  std::vector<std::byte> fill_;  // one value
  bool is_hole_ = false;         // whether no value was ever written
  // The stored chunks, if the values of each lie in a single new chunk.
  std::optional<BoxInChunks> stored_;
  // The whole array, if `stored_` is not set.
  Source array_;
};

}  // namespace nmb
