// Growth adds the records and pieces in growth pages to blocks (spec/format.md, section 10.4).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <unordered_set>
#include <vector>

#include "format/extent/data_map.h"
#include "format/superblock/superblock.h"
#include "nmb/block_entry.h"
#include "nmb/bytes.h"
#include "nmb/status.h"

namespace nmb {

inline constexpr std::uint64_t kMaxGrowthPages = 1024;

struct GrowthRow {
  Piece piece;
  std::uint64_t records = 0;  // number of records of the block, including those in this piece
  std::shared_ptr<const Page> page;  // page that has the row
  std::uint32_t row = 0;             // number of the row in the page
  // Returns where the row's value in a column lies in the file, for findings.
  std::uint64_t at(Column column) const { return page->value_offset(row, column); }
};

// The growth rows of each block, by the block's order of creation.
using GrowthRows = std::map<std::uint64_t, std::vector<GrowthRow>>;

// Checks R-GR-1, but not whether each order belongs to a block. Returns the number of the first row
// that does not count, or the number of rows if all rows count.
std::uint32_t check_growth_page(const Page& page, Findings& findings);
// Checks a page like check_growth_page(), and adds the page's rows to *rows. Returns false if some
// rows of the page cannot be read.
bool add_growth_page(const std::shared_ptr<const Page>& page, GrowthRows* rows, Findings& findings);

// Checks R-GR-2 and R-GR-3 for the rows of a block. Does not check whether the extent is long
// enough for the records, and does not read the pieces. `entry` is the block's entry before growth
// is added.
void check_growth_of(const BlockEntry& entry, std::span<const GrowthRow> rows,
                     std::uint32_t piece_size, Findings& findings);

// Adds the records and the length of the block's growth rows to an entry.
void grow(BlockEntry* entry, std::span<const GrowthRow> rows);

// Thread-safe. Reads all growth pages when growth is queried first. Memory: the pages, and the rows
// of blocks whose values are read.
class Growth {
 public:
  // `file` and `superblock` must outlive this object.
  Growth(const ByteSource& file, const Superblock& superblock)
      : file_(file), superblock_(superblock) {}

  bool absent() const { return superblock_.growth.absent(); }
  // Adds growth to an entry of the index. Does not check the rows of a block with an unsupported
  // need, because they may have another meaning. Errors: kDamaged, kIo.
  Status add_to(BlockEntry* entry) const;
  // Returns whether the block with this order has growth rows. Errors: kDamaged, kIo.
  Result<bool> has_rows(std::uint64_t order) const;
  // Returns the growth rows of a block. `entry` must have been passed to add_to(). The rows live as
  // long as this object.
  Result<std::span<const GrowthRow>> rows_of(const BlockEntry& entry) const;
  // Returns the orders of all blocks with growth rows. The result lives as long as this object.
  // Errors: kDamaged, kIo.
  Result<const std::unordered_set<std::uint64_t>*> orders() const;
  // Returns the growth pages, the oldest first. The result lives as long as this object. Errors:
  // kDamaged, kIo.
  Result<std::span<const std::shared_ptr<const Page>>> pages() const;

  // Takes the pages that `before` has read, so that they need not be read again if this chain
  // continues them. `before` must not be used afterwards. Not thread-safe.
  void continue_from(Growth& before);

 private:
  Status load() const;
  // Searches every page and returns all growth rows of a block. A table of the rows of all blocks
  // would need several times as much memory as the pages, and several times as much time as it
  // takes to read them.
  std::vector<GrowthRow> gather(std::uint64_t order) const;

  const ByteSource& file_;
  const Superblock& superblock_;
  mutable std::mutex mutex_;                 // protects the mutable members
  mutable std::set<std::uint64_t> checked_;  // orders of the blocks whose rows were checked
  mutable std::vector<std::shared_ptr<const Page>> pages_;
  mutable std::unordered_set<std::uint64_t> orders_;  // orders that occur in pages_
  mutable bool loaded_ = false;                       // whether all pages were read
  mutable GrowthRows rows_;                           // rows of the blocks that were queried
};

}  // namespace nmb
