// Reads the places of chunks from the bytes of the file (HDF5 File Format Specification 3.0,
// section III.A.1, B-trees of version 1). The HDF5 library 1.10 needs one call for each chunk, and
// the time of a call grows with the number of chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nmb::hdf5 {

struct ChunkPlace {
  std::uint64_t number = 0;              // index of the chunk in row-major order
  std::uint64_t offset = 0, length = 0;  // position and length in the file, in bytes
  std::uint32_t mask = 0;  // filter mask: a set bit means that the filter was not applied
};

struct ChunkShape {
  std::span<const std::uint64_t> lengths;  // lengths of the data set's dimensions
  std::span<const std::uint64_t> chunk;    // lengths of a chunk, each at least 1
};

// Returns the places of all `count` chunks, in the order of their numbers. `descriptor` is an open
// file of `size` bytes. The file must have no user block, and its addresses and lengths must have 8
// bytes. `tree` is the address of the B-tree's root. Returns nullopt if the tree has an unexpected
// form, if it does not have `count` chunks, or if a chunk is outside the shape or the file.
std::optional<std::vector<ChunkPlace>> read_chunk_tree(int descriptor, std::uint64_t size,
                                                       std::uint64_t tree, ChunkShape shape,
                                                       std::uint64_t count);

}  // namespace nmb::hdf5
