// KeptRows holds the rows of statistics and tags of one file, ordered by block, for packing its
// blocks into another file (spec/tables.md, sections 9.2 to 9.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "model/metadata.h"
#include "table/block_table.h"
#include "table/table_build.h"
#include "wire/failure.h"

namespace nmb {

// Threads may share an object after read(). A row takes about 120 bytes of memory, plus its bytes
// and the length of its name.
class KeptRows {
 public:
  using Wants = std::function<Result<bool>(std::uint64_t order)>;
  // Reads the rows of all blocks for which wants() returns true, without rows that a newer tree of
  // the table replaces. use: kStatistics or kTags. Errors: kIo; kDamaged, with the position in
  // `file`. After a failure, no row of the table is kept.
  Status read(PageUse use, const BlockTable& table, const ByteSource& file, const Wants& wants);

  // Returns the number of rows of a block. order: the block's order of creation in the file that
  // was read.
  std::size_t count(PageUse use, std::uint64_t order) const;
  // Returns whether a block has a row with this name.
  bool has(PageUse use, std::uint64_t order, std::string_view name) const;
  // Adds to *out a copy, with the order `new_order`, of each row of the block with the order
  // `order`. If `stays` is set, leaves out rows for which it returns false.
  void add_to(PageUse use, std::uint64_t order, std::uint64_t new_order, TableRows* out,
              const std::function<bool(const TableRow&)>& stays = {}) const;
  // Returns kDamaged (R-ST-2) if the statistics of a block do not fit its metadata: the block has
  // no variable of that name, or the variable has another type.
  Status check_statistics(const Metadata& metadata, std::uint64_t order) const;

 private:
  struct Table {
    TableRows rows;
    std::vector<std::pair<std::uint64_t, std::size_t>>
        by_order;  // pairs of a row's order and its index in `rows`
  };
  const Table& table(PageUse use) const { return use == PageUse::kTags ? tags_ : statistics_; }
  Table statistics_, tags_;
};

}  // namespace nmb
