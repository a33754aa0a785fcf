// The tree of a record variable's chunks, one for each record (spec/hdf5_view.md, "Variables").
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hdf5/bytes/tree_level.h"
#include "hdf5/bytes/view_output.h"
#include "nmb/status.h"

namespace nmb {

// chunks: the stored records, ascending, and their addresses. rank: of the variable. chunk_bytes:
// of one record. node_rank: half the number of children for which a node has space. Returns the
// tree's address; kUndefinedAddress if there are no chunks.
Result<std::uint64_t> append_chunk_tree(std::vector<TreeChild> chunks, std::size_t rank,
                                        std::uint64_t chunk_bytes, unsigned node_rank,
                                        ViewOutput& out);

}  // namespace nmb
