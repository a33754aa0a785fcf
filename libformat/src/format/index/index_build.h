// Writing the index of a file that has none, by all ranks (spec/format.md, section 7).
#pragma once

#include <cstdint>

#include "format/index/index_update.h"
#include "format/page/page_tree_build.h"
#include "nmb/communicator.h"

namespace nmb {

// Rows of leaves and nodes, at most.
struct IndexPageRows {
  std::uint32_t leaf = kLeafRows;
  std::uint32_t node = kNodeRows;
};

// Collective. entries: this rank's slice, sorted; names of higher ranks are higher. Where pages lie
// and who writes them: PageTreeBuild.
Result<BuiltIndex> build_index(Communicator& ranks, const IndexChanges& entries, IndexPageRows rows,
                               std::uint64_t position, const WritePages& write,
                               const Origin& origin, std::uint64_t few_pages = kFewPages);

}  // namespace nmb
