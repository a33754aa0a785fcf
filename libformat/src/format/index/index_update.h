// Updates the index: writes the pages that lead to changed entries again, and keeps all other pages
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

// Changes of the index, sorted by name. If one rank removed a name and another rank defined it, the
// name occurs twice, in any order.
class IndexChanges {
 public:
  virtual ~IndexChanges() = default;
  virtual std::size_t count() const = 0;
  virtual std::string_view name(std::size_t i) const = 0;
  // Returns the new entry, or nullopt if the name is removed from the index.
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

// Describes a written index. The description is the same on all ranks.
struct BuiltIndex {
  IndexRoot root;         // all zero if there are no entries
  std::uint64_t end = 0;  // end of the last page
};

// Updates the index. Collective; all ranks agree on failures. `old` is the committed index. `old`
// must not be empty; for an empty index, see format/index/index_build.h. `changes` is this rank's
// slice of the changes; a higher rank has only greater names. New pages begin at `position`, which
// is the same on all ranks. New pages lie level by level, and within a level in the order of names.
// Each rank passes its own pages to `write`. `write` is collective, returns the same status on all
// ranks, and may get no bytes. Each page that is no longer used is reported to `dead`, on one rank
// only. The bytes do not depend on the distribution of changes to ranks. If a level has at most
// `few_pages` pages, old and new together, rank 0 makes all levels above it. Memory: a rank's new
// pages and rows of one level, and the nodes on a path; if there is only one rank, it writes pages
// in parts of 1 MiB.
Result<BuiltIndex> update_index(Communicator& ranks, const IndexTree& old,
                                const IndexChanges& changes, std::uint64_t position,
                                const WritePages& write, DeadPages& dead, const Origin& origin,
                                std::uint64_t few_pages = kFewPages);

}  // namespace nmb
