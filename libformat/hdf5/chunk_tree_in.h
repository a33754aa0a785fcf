// Reads the places of chunks from the bytes of the file (HDF5 File Format Specification 3.0,
// section III.A.1, B-trees of version 1). The HDF5 library 1.10 returns only the place of one chunk
// per call, and a call takes longer the more chunks there are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nmb::hdf5 {

struct ChunkPlace {
  std::uint64_t number = 0;  // position among the chunks; the last dimension varies fastest
  std::uint64_t offset = 0, length = 0;  // position and length in the file, in bytes
  std::uint32_t mask = 0;                // bits of filters that were not applied
};

struct ChunkShape {
  std::span<const std::uint64_t> lengths;  // lengths of the data set's dimensions
  std::span<const std::uint64_t> chunk;    // lengths of a chunk; none is 0
};

// Returns the places of all `count` chunks, in the order of their numbers. `descriptor` is a file
// of `size` bytes without a user block, in which addresses and lengths have 8 bytes. `tree` is the
// address of the root of the B-tree. Returns nullopt if the tree has an unexpected form, another
// number of chunks, or chunks outside the shape or the file.
std::optional<std::vector<ChunkPlace>> read_chunk_tree(int descriptor, std::uint64_t size,
                                                       std::uint64_t tree, ChunkShape shape,
                                                       std::uint64_t count);

}  // namespace nmb::hdf5
