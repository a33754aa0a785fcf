// Writes the tree of a data set's chunks (spec/hdf5_view.md, "Trees").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoding/tree_level.h"
#include "encoding/view_output.h"
#include "wire/failure.h"

namespace nmb {

struct ViewChunk {
  std::uint64_t number = 0;  // chunk number in row-major order, from 0
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;        // size of the stored chunk
  std::uint32_t filter_mask = 0;  // bit n: filter n was skipped
};

// The grid of all chunks of a data set, including chunks that are not stored. Each member has one
// item for each dimension, slowest dimension first.
struct ViewGrid {
  std::vector<std::uint64_t> chunk;   // lengths of a chunk
  std::vector<std::uint64_t> counts;  // numbers of chunks along the dimensions
};

// Returns the size of a tree in bytes. `chunks` is the number of chunks.
std::uint64_t chunk_tree_bytes(std::uint64_t chunks, std::size_t rank, unsigned node_rank);

// Appends the tree and returns its address, or kUndefinedAddress if there are no chunks. `chunks`
// must be sorted by chunk number. A node has space for 2 * `node_rank` children.
Result<std::uint64_t> append_chunk_tree(std::span<const ViewChunk> chunks, const ViewGrid& grid,
                                        unsigned node_rank, ViewOutput& out);

}  // namespace nmb
