// Writing the index: the pages that lead to changed entries anew, all others kept
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

// Changes sorted by name. A name that one rank removed and another defined stands twice, in any
// order.
class IndexChanges {
 public:
  virtual ~IndexChanges() = default;
  virtual std::size_t count() const = 0;
  virtual std::string_view name(std::size_t i) const = 0;
  // The new entry; nullopt: the name leaves the index.
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

// Collective. old: the committed index, not empty (format/index/index_build.h writes others).
// changes: this rank's slice; names of higher ranks are higher. New pages lie from `position` on
// (the same on all ranks), level by level, each in order of names; each rank hands its own to
// `write`, which is collective, with the same status on all ranks, and may get no bytes. `dead`
// hears of each old page on one rank. Which rank has what slice makes no difference to the bytes.
// Memory: a rank's new pages and rows of one level and the nodes on a path; one rank alone hands
// pages on by the mebibyte. few_pages: of a level, old and new, over which rank 0 makes all
// others. All failures are agreed.
Result<BuiltIndex> update_index(Communicator& ranks, const IndexTree& old,
                                const IndexChanges& changes, std::uint64_t position,
                                const WritePages& write, DeadPages& dead, const Origin& origin,
                                std::uint64_t few_pages = kFewPages);

}  // namespace nmb
