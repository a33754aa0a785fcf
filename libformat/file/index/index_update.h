// Updates the index: writes new copies of the pages above changed entries, and keeps all other
// pages (spec/writer.md, section 5.6).
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

// Changes of the index, sorted by name. A name that one rank removed and another defined occurs
// twice, in any order.
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

// A written index; the same on all ranks.
struct BuiltIndex {
  IndexRoot root;         // all zero if there are no entries
  std::uint64_t end = 0;  // end of the last page
};

// Updates the index. Collective; all ranks agree on failures.
// - old: the committed index, which must not be empty (otherwise see index/index_build.h).
// - changes: this rank's slice of the changes. Its names are greater than those of all lower ranks.
// - position: where the new pages begin; the same on all ranks. They are placed level by level, and
//   within a level in the order of names.
// - write: gets the pages of this rank, or no bytes. It is collective and returns the same status
//   on all ranks.
// - dead: receives the pages that are no longer used. Each of them is reported by one rank.
// - few_pages: if the new and the replaced pages of a level are together at most this many, rank 0
//   makes all levels above it.
//
// The bytes of the new pages do not depend on how the changes are divided among ranks. Memory: a
// rank's new pages and rows of one level, and the nodes on one path. If there is only one rank, it
// does not keep the pages of a level, but writes them in parts of about 1 MiB.
Result<BuiltIndex> update_index(Communicator& ranks, const IndexTree& old,
                                const IndexChanges& changes, std::uint64_t position,
                                const WritePages& write, DeadPages& dead, const Origin& origin,
                                std::uint64_t few_pages = kFewPages);

}  // namespace nmb
