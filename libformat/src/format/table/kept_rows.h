// KeptRows: the rows of statistics and tags of one file, by block, for blocks that are packed into
// another file (spec/format.md, sections 9.2 to 9.4).
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

// Immutable after reading, so safe to share between threads. Memory: about 120 bytes per row, and
// its name and bytes.
class KeptRows {
 public:
  using Wants = std::function<Result<bool>(std::uint64_t order)>;
  // Takes all rows that count of a table, kStatistics or kTags, for blocks accepted by `wants`.
  // Errors: kDamaged, with the position in `file`: none of them is kept; kIo.
  Status read(PageUse use, const BlockTable& table, const ByteSource& file, const Wants& wants);

  // Returns the number of rows of the block with this order of creation in the file that was read.
  std::size_t count(PageUse use, std::uint64_t order) const;
  // Adds them to `out` as rows of the block `new_order`.
  void add_to(PageUse use, std::uint64_t order, std::uint64_t new_order, TableRows* out) const;
  // Returns kDamaged (R-ST-2) if the block has statistics of a variable that it does not have, or
  // of another type.
  Status check_statistics(const Metadata& metadata, std::uint64_t order) const;

 private:
  struct Table {
    TableRows rows;
    std::vector<std::pair<std::uint64_t, std::size_t>> by_order;  // and their indexes in `rows`
  };
  const Table& table(PageUse use) const { return use == PageUse::kTags ? tags_ : statistics_; }
  Table statistics_, tags_;
};

}  // namespace nmb
