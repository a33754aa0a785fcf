// Updates the index: writes again the pages that lead to changed entries, and keeps all others
// (spec/format.md, section 7).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "format/index/index_tree.h"
#include "format/page/level_pages.h"
#include "format/page/page_sink.h"
#include "nmb/block_entry.h"
#include "nmb/communicator.h"

namespace nmb {

// Changes sorted by name. A name that one rank removed and another defined occurs twice, in any
// order.
class IndexChanges {
 public:
  virtual ~IndexChanges() = default;
  virtual std::size_t count() const = 0;
  virtual std::string_view name(std::size_t i) const = 0;
  // Returns the new entry; nullopt: the name is removed from the index.
  virtual std::optional<BlockEntry> entry(std::size_t i) const = 0;
};

struct IndexRoot {
  std::uint64_t position = 0;
  std::uint32_t length = 0;
  std::uint32_t height = 0;
  Digest digest;
  Totals totals;
  std::uint64_t needs = 0;
};

// A written index; the same on all ranks.
struct BuiltIndex {
  IndexRoot root;         // all zero without entries
  std::uint64_t end = 0;  // of the last page
};

// Collective. Updates the index.
// old: the committed index, not empty (for an empty one see format/index/index_build.h). changes:
// this rank's slice; names of higher ranks are higher.
// New pages lie from `position` on (the same on all ranks), level by level, each in order of names.
// Each rank passes its own pages to `write`, which is collective, returns the same status on all
// ranks, and may get no bytes. `dead` is informed of each old page on one rank. The bytes do not
// depend on the distribution of slices to ranks.
// few_pages: if a level has at most this many pages, old and new, rank 0 makes all levels above it.
// Memory: a rank's new pages and rows of one level and the nodes on a path; a single rank passes
// pages on in parts of 1 MiB. All failures are agreed.
Result<BuiltIndex> update_index(Communicator& ranks, const IndexTree& old,
                                const IndexChanges& changes, std::uint64_t position,
                                const WritePages& write, DeadPages& dead, const Origin& origin,
                                std::uint64_t few_pages = kFewPages);

}  // namespace nmb
