// Writes the first index of a file, by all ranks (spec/format.md, section 7).
#pragma once

#include <cstdint>

#include "format/index/index_update.h"
#include "format/page/page_tree_build.h"
#include "nmb/communicator.h"

namespace nmb {

// Most rows of leaves and nodes.
struct IndexPageRows {
  std::uint32_t leaf = kLeafRows;
  std::uint32_t node = kNodeRows;
};

// Collective. entries: this rank's slice, sorted; names of higher ranks are higher. See
// PageTreeBuild for the positions of pages and for the ranks that write them.
Result<BuiltIndex> build_index(Communicator& ranks, const IndexChanges& entries, IndexPageRows rows,
                               std::uint64_t position, const WritePages& write,
                               const Origin& origin, std::uint64_t few_pages = kFewPages);

}  // namespace nmb
