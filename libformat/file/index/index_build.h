// Writes the first index of a file on all ranks, level by level, in pages with a fixed number of
// rows (spec/writer.md, section 5.6).
#pragma once

#include <cstdint>

#include "index/index_update.h"
#include "page/page_tree_build.h"
#include "parallel/communicator.h"

namespace nmb {

// The most rows in a leaf and in a node.
struct IndexPageRows {
  std::uint32_t leaf = kLeafRows;
  std::uint32_t node = kNodeRows;
};

// Writes the index. Collective. entries: this rank's slice of the entries, sorted by name. Its
// names are greater than those of all lower ranks. PageTreeBuild describes the position of each
// page and which rank writes it.
Result<BuiltIndex> build_index(Communicator& ranks, const IndexChanges& entries, IndexPageRows rows,
                               std::uint64_t position, const WritePages& write,
                               const Origin& origin, std::uint64_t few_pages = kFewPages);

}  // namespace nmb
