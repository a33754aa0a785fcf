// Growth: records and pieces of blocks in growth pages (spec/format.md, section 10.4).
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
  std::uint64_t records = 0;         // of the block, including the piece
  std::shared_ptr<const Page> page;  // the page that has the row
  std::uint32_t row = 0;             // number of the row in the page
  // Returns the position in the file of a value, for findings.
  std::uint64_t at(Column column) const { return page->value_offset(row, column); }
};

// The rows of each block, by its order of creation.
using GrowthRows = std::map<std::uint64_t, std::vector<GrowthRow>>;

// Checks R-GR-1, except for orders without a block. Returns the end of the rows that count.
std::uint32_t check_growth_page(const Page& page, Findings& findings);
// Does the same, and adds the rows of a page to those of earlier pages. Returns false if the page's
// rows cannot be read.
bool add_growth_page(const std::shared_ptr<const Page>& page, GrowthRows* rows, Findings& findings);

// Checks R-GR-2 (except for the length required by records) and R-GR-3 (without bytes) of a block's
// rows. entry: without growth.
void check_growth_of(const BlockEntry& entry, std::span<const GrowthRow> rows,
                     std::uint32_t piece_size, Findings& findings);

// Adds the records and pieces of the block's rows to an entry.
void grow(BlockEntry* entry, std::span<const GrowthRow> rows);

// Thread-safe. Pages are read once, when growth is first queried. Memory: the pages, and the rows
// of blocks whose values are read.
class Growth {
 public:
  // `file` must outlive it.
  Growth(const ByteSource& file, const Superblock& superblock)
      : file_(file), superblock_(superblock) {}

  bool absent() const { return superblock_.growth.absent(); }
  // Adds growth to an entry of the index. If the block has an unsupported need, its rows may have
  // other meanings and are not checked. Errors: kDamaged, kIo.
  Status add_to(BlockEntry* entry) const;
  // Returns whether the block with this order has growth rows. Errors: kDamaged, kIo.
  Result<bool> has_rows(std::uint64_t order) const;
  // For an entry that was passed to add_to(); the rows live as long as this.
  Result<std::span<const GrowthRow>> rows_of(const BlockEntry& entry) const;
  // Returns the orders of blocks with rows; valid as long as this. Errors: kDamaged, kIo.
  Result<const std::unordered_set<std::uint64_t>*> orders() const;
  // Returns the pages, the oldest first; valid as long as this. Errors: kDamaged, kIo.
  Result<std::span<const std::shared_ptr<const Page>>> pages() const;

  // Takes the pages that `before` has read, if this chain continues them. `before` is no longer
  // used. Not thread-safe.
  void continue_from(Growth& before);

 private:
  Status load() const;
  // Returns all rows of a block by searching every page: a table of the rows of all blocks would
  // take several times the pages' memory, and several times the time to read them.
  std::vector<GrowthRow> gather(std::uint64_t order) const;

  const ByteSource& file_;
  const Superblock& superblock_;
  mutable std::mutex mutex_;                 // of the mutable members
  mutable std::set<std::uint64_t> checked_;  // orders that were checked
  mutable std::vector<std::shared_ptr<const Page>> pages_;
  mutable std::unordered_set<std::uint64_t> orders_;  // orders in pages_
  mutable bool loaded_ = false;                       // all pages were read
  mutable GrowthRows rows_;                           // of blocks that were queried
};

}  // namespace nmb
