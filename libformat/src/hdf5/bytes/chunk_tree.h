// Writes the tree of a record variable's chunks. Each record is a chunk (spec/hdf5_view.md,
// "Variables").
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hdf5/bytes/tree_level.h"
#include "hdf5/bytes/view_output.h"
#include "nmb/status.h"

namespace nmb {

// Returns the tree's address, or kUndefinedAddress if there are no chunks. `chunks` has the number
// and the address of each stored record, by ascending number. `rank` is the variable's rank.
// `chunk_bytes` is the size of one record. `node_rank` is half the number of children for which a
// node has space.
Result<std::uint64_t> append_chunk_tree(std::vector<TreeChild> chunks, std::size_t rank,
                                        std::uint64_t chunk_bytes, unsigned node_rank,
                                        ViewOutput& out);

}  // namespace nmb
