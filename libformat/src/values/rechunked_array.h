// RechunkedArray: the array of a variable, divided into chunks of any shape (spec/format.md,
// section 15.2). The chunks are decoded; no filters are applied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hdf5/model/hdf5_section.h"
#include "nmb/dataset.h"
#include "nmb/status.h"
#include "nmb/values.h"
#include "values/chunk_table.h"

namespace nmb {

// Thread-safe if the extent of the dataset is.
class RechunkedArray {
 public:
  // `chunk` has one length for each dimension, and no length of 0. `cache_bytes`: the limit for
  // decoded chunks that several new chunks share. Errors: those of value_array().
  static Result<RechunkedArray> open(const Dataset& dataset, VarId variable,
                                     std::span<const hdf5::Property> properties,
                                     std::vector<std::uint64_t> chunk, std::uint64_t cache_bytes);

  // From now on, chunks have the bytes of each value in the other order.
  void swap_bytes() { is_swapped_ = true; }
  std::uint64_t chunks() const { return chunks_; }
  std::uint64_t chunk_bytes() const { return chunk_bytes_; }
  std::uint64_t value_size() const { return fill_.size(); }
  // Returns the index of the first value of a chunk along each dimension.
  std::vector<std::uint64_t> start(std::uint64_t number) const;
  // Returns the values of a chunk. No bytes: none of them was ever written. Elements outside the
  // array have the fill value, which HDF5 shows there when the array grows. Each stored chunk is
  // decoded once if no new chunk has only a part of it. Errors: kDamaged; kLimit; kIo.
  Result<std::vector<std::byte>> chunk(std::uint64_t number) const;

 private:
  RechunkedArray() = default;
  Result<std::vector<std::byte>> stored_values(std::uint64_t number) const;
  Result<std::vector<std::byte>> gathered(std::span<const std::uint64_t> first) const;
  Status cut(std::span<const std::uint64_t> first, std::vector<std::byte>* out) const;
  std::vector<std::byte> filled() const;

  std::vector<std::uint64_t> lengths_, chunk_;
  std::vector<std::byte> fill_;  // one value
  std::uint64_t chunks_ = 1, chunk_bytes_ = 1;
  bool is_hole_ = false;  // no value was ever written
  bool is_swapped_ = false;
  // Stored chunks, if each is part of one new chunk.
  std::optional<ChunkTable> table_;
  std::vector<std::uint64_t> stored_chunk_;
  // Otherwise, the array.
  std::optional<RangeSource> array_;
};

// The number of chunks along a dimension.
constexpr std::uint64_t chunks_along(std::uint64_t length, std::uint64_t chunk) {
  return length / chunk + (length % chunk != 0);
}

}  // namespace nmb
