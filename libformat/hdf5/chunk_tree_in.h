// Reads places of chunks from the bytes of the file (HDF5 File Format Specification 3.0, III.A.1,
// version 1 of B-trees). HDF5 1.10 states them one by one, and takes longer for each the more there
// are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nmb::hdf5 {

struct ChunkPlace {
  std::uint64_t number = 0;              // in the order of indices, the last dimension fastest
  std::uint64_t offset = 0, length = 0;  // in the file
  std::uint32_t mask = 0;                // of filters that were not applied
};

struct ChunkShape {
  std::span<const std::uint64_t> lengths;  // of the data set
  std::span<const std::uint64_t> chunk;    // of a chunk, none of them 0
};

// Returns the places of all `count` chunks in order. tree: address of the root. descriptor: of a
// file of `size` bytes without a user block, whose addresses and lengths have 8 bytes. nullopt: the
// tree has an unexpected form, another number of chunks, or chunks beyond the shape or the file.
std::optional<std::vector<ChunkPlace>> read_chunk_tree(int descriptor, std::uint64_t size,
                                                       std::uint64_t tree, ChunkShape shape,
                                                       std::uint64_t count);

}  // namespace nmb::hdf5
