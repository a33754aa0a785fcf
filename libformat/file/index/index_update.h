// Updates the index. Writes new copies of the pages that lead to changed entries, and keeps all
// other pages (spec/writer.md, section 5.6).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "index/index_tree.h"
#include "page/level_pages.h"
#include "page/page_sink.h"
#include "parallel/communicator.h"
#include "wire/block_entry.h"

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
// slice of the changes. A higher rank must have greater names than a lower rank. New pages begin at
// `position`, which is the same on all ranks. New pages are placed level by level. Within a level,
// new pages are in the order of names. Each rank passes its own pages to `write`. `write` is
// collective and returns the same status on all ranks. A rank may call `write` with no bytes. If a
// page is no longer used, one rank reports this to its `dead`. The bytes of the new pages do not
// depend on which rank has which changes. If the new pages of a level and the old pages that they
// replace are at most `few_pages` in all, rank 0 makes all levels above this level. Memory: a
// rank's new pages and rows of one level, and the nodes on one path. If there is only one rank, it
// writes the pages in parts of 1 MiB.
Result<BuiltIndex> update_index(Communicator& ranks, const IndexTree& old,
                                const IndexChanges& changes, std::uint64_t position,
                                const WritePages& write, DeadPages& dead, const Origin& origin,
                                std::uint64_t few_pages = kFewPages);

}  // namespace nmb
