// KeptRows holds the rows of statistics and tags of one file, ordered by block. These rows are
// needed when blocks of this file are packed into another file (spec/format.md, sections 9.2 to
// 9.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "format/table/block_table.h"
#include "format/table/table_build.h"
#include "nmb/metadata.h"
#include "nmb/status.h"

namespace nmb {

// Threads may share an object after read(), because it does not change any more. Memory: about 120
// bytes per row, and the row's name and bytes.
class KeptRows {
 public:
  using Wants = std::function<Result<bool>(std::uint64_t order)>;
  // Reads the rows of a table for all blocks for which `wants` returns true, without rows that a
  // newer tree replaces. `use` is kStatistics or kTags. Errors: kIo; kDamaged, with the position in
  // `file`. After a failure, no row of the table is kept.
  Status read(PageUse use, const BlockTable& table, const ByteSource& file, const Wants& wants);

  // Returns the number of rows of a block. `order` is the block's order of creation in the file
  // that was read.
  std::size_t count(PageUse use, std::uint64_t order) const;
  // Adds the rows of block `order` to *out, as rows of a block with order `new_order`.
  void add_to(PageUse use, std::uint64_t order, std::uint64_t new_order, TableRows* out) const;
  // Returns kDamaged (R-ST-2) if the statistics of a block do not fit its metadata: the block has
  // no variable of that name, or the variable has another type.
  Status check_statistics(const Metadata& metadata, std::uint64_t order) const;

 private:
  struct Table {
    TableRows rows;
    std::vector<std::pair<std::uint64_t, std::size_t>>
        by_order;  // orders, with the index in `rows`
  };
  const Table& table(PageUse use) const { return use == PageUse::kTags ? tags_ : statistics_; }
  Table statistics_, tags_;
};

}  // namespace nmb
