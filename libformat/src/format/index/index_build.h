// Writes the first index of a file on all ranks (spec/format.md, section 7).
#pragma once

#include <cstdint>

#include "format/index/index_update.h"
#include "format/page/page_tree_build.h"
#include "nmb/communicator.h"

namespace nmb {

// The most rows of a leaf and of a node.
struct IndexPageRows {
  std::uint32_t leaf = kLeafRows;
  std::uint32_t node = kNodeRows;
};

// Writes the index. Collective. `entries` is this rank's slice of the entries, sorted by name; a
// higher rank has only greater names. See PageTreeBuild for the positions of pages and for the
// ranks that write them.
Result<BuiltIndex> build_index(Communicator& ranks, const IndexChanges& entries, IndexPageRows rows,
                               std::uint64_t position, const WritePages& write,
                               const Origin& origin, std::uint64_t few_pages = kFewPages);

}  // namespace nmb
