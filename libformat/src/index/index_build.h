// Writing the index of a file that has none, by all ranks (spec/format.md, section 7).
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "index/index_update.h"
#include "nmb/communicator.h"

namespace nmb {

struct BuiltIndex {
  IndexRoot root;         // all zero without entries
  std::uint64_t end = 0;  // of the last page
};

// Rows of leaves and nodes, at most.
struct IndexPageRows {
  std::uint32_t leaf = kLeafRows;
  std::uint32_t node = kNodeRows;
};

// Collective. entries: this rank's slice, sorted; names of higher ranks are higher. Pages lie from
// `position` on (the same on all ranks): the leaves, then each level of nodes. Each rank hands the
// pages that begin in its slice to `write`, with their positions: a collective call for each
// level, with the same status on all ranks, and without bytes where a rank has none. Which rank has
// what slice makes no difference to the bytes; nodes over few pages are rank 0's. Memory: a rank's
// pages of one level; one rank alone hands them on by the mebibyte.
Result<BuiltIndex> build_index(
    Communicator& ranks, const IndexChanges& entries, IndexPageRows rows, std::uint64_t position,
    const std::function<Status(std::uint64_t, std::span<const std::byte>)>& write,
    const Origin& origin);

}  // namespace nmb
