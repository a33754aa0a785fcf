// Writing the index: the pages that lead to changed entries anew, all others kept
// (spec/format.md, section 7).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "index/index_tree.h"
#include "nmb/block_entry.h"
#include "page/page_sink.h"

namespace nmb {

// Changes sorted by name, without repetition.
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

// `old`: the committed index, not empty (see index/index_build.h for others). Memory: the rows of
// one level, plus the pages on the path.
Result<IndexRoot> update_index(const IndexTree& old, const IndexChanges& changes, PageSink& sink,
                               const Origin& origin);

}  // namespace nmb
