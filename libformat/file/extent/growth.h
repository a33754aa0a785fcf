// Growth reads the growth pages, and adds their records and pieces to blocks (spec/format.md,
// section 10.4).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <unordered_set>
#include <vector>

#include "extent/data_map.h"
#include "superblock/superblock.h"
#include "wire/block_entry.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

inline constexpr std::uint64_t kMaxGrowthPages = 1024;

struct GrowthRow {
  Piece piece;
  std::uint64_t records = 0;  // number of records of the block, including those in this piece
  std::shared_ptr<const Page> page;
  std::uint32_t row = 0;
  // Returns the position in the file of the row's value in a column. Findings state this position.
  std::uint64_t at(Column column) const { return page->value_offset(row, column); }
};

// The growth rows of each block, by its order of creation.
using GrowthRows = std::map<std::uint64_t, std::vector<GrowthRow>>;

// Checks R-GR-1, but not whether each order belongs to a block. Returns the number of the first row
// that cannot be used, or the number of rows if all can be used.
std::uint32_t check_growth_page(const Page& page, Findings& findings);
// Checks a page as check_growth_page() does, and adds its rows to *rows. Returns false if some rows
// cannot be read.
bool add_growth_page(const std::shared_ptr<const Page>& page, GrowthRows* rows, Findings& findings);

// Checks R-GR-2, R-GR-3, R-GR-6 and R-GR-7 for the rows of a block, without reading the pieces, and
// without checking whether the extent is long enough for the records. entry: the block's entry
// without its growth.
void check_growth_of(const BlockEntry& entry, std::span<const GrowthRow> rows,
                     std::uint32_t piece_size, Findings& findings);

// Adds to an entry the records and the length in the block's growth rows.
void grow(BlockEntry* entry, std::span<const GrowthRow> rows);

// Thread-safe. Reads all growth pages at the first query. Memory: the growth pages, and the growth
// rows of the blocks whose values are read.
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
  // Returns the growth rows of a block, which are valid as long as this object. `entry` must have
  // been passed to add_to().
  Result<std::span<const GrowthRow>> rows_of(const BlockEntry& entry) const;
  // Returns the orders of all blocks that have growth rows, valid as long as this object. Errors:
  // kDamaged, kIo.
  Result<const std::unordered_set<std::uint64_t>*> orders() const;
  // Returns the growth pages, oldest first, valid as long as this object. Errors: kDamaged, kIo.
  Result<std::span<const std::shared_ptr<const Page>>> pages() const;

  // Takes the pages that `before` has read. They are not read again if they belong to this
  // generation's chain too. `before` must not be used afterwards. Not thread-safe.
  void continue_from(Growth& before);

 private:
  Status load() const;
  // Returns all growth rows of a block, for which it searches every page. A table of all blocks'
  // rows would need several times the memory of the pages, and several times the time of reading
  // them.
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
