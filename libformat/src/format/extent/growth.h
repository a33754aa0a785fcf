// Growth: records and pieces that growth pages add to blocks (spec/format.md, section 10.4).
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
  std::uint64_t records = 0;         // of the block, with the piece
  std::shared_ptr<const Page> page;  // that has the row
  std::uint32_t row = 0;             // in it
  // Where a value of it lies in the file, for findings.
  std::uint64_t at(Column column) const { return page->value_offset(row, column); }
};

// The rows of each block, by its order of creation.
using GrowthRows = std::map<std::uint64_t, std::vector<GrowthRow>>;

// Checks R-GR-1, but for orders that no block has. Returns the row behind the last that counts.
std::uint32_t check_growth_page(const Page& page, Findings& findings);
// The same, and adds the rows of a page to those of the pages before it. False: the page's rows
// cannot be told.
bool add_growth_page(const std::shared_ptr<const Page>& page, GrowthRows* rows, Findings& findings);

// Checks R-GR-2 (but for the length that records want) and R-GR-3 (without bytes) of a block's
// rows. entry: without growth.
void check_growth_of(const BlockEntry& entry, std::span<const GrowthRow> rows,
                     std::uint32_t piece_size, Findings& findings);

// Adds to an entry what rows of its block say.
void grow(BlockEntry* entry, std::span<const GrowthRow> rows);

// Thread-safe. Pages are read once, when an entry is asked about first. Memory: the pages, and the
// rows of blocks whose values are read.
class Growth {
 public:
  // `file` outlives it.
  Growth(const ByteSource& file, const Superblock& superblock)
      : file_(file), superblock_(superblock) {}

  bool absent() const { return superblock_.growth.absent(); }
  // Adds to what the index says of a block what growth pages say of it. What a block needs that is
  // not supported may say more of its rows: they are not checked. kDamaged, kIo.
  Status add_to(BlockEntry* entry) const;
  // Whether the block of an order has growth rows. kDamaged, kIo.
  Result<bool> has_rows(std::uint64_t order) const;
  // Of an entry that add_to() has seen; they live as long as this.
  Result<std::span<const GrowthRow>> rows_of(const BlockEntry& entry) const;
  // Of the blocks that have rows; it lives as long as this. kDamaged, kIo.
  Result<const std::unordered_set<std::uint64_t>*> orders() const;
  // The pages, the oldest first; they live as long as this. kDamaged, kIo.
  Result<std::span<const std::shared_ptr<const Page>>> pages() const;

  // Takes the pages that `before` has read: those that this chain continues are not read again.
  // `before` is of no use any more. Not thread-safe.
  void continue_from(Growth& before);

 private:
  Status load() const;
  // All rows of a block: a search in every page, as a table of the rows of all blocks takes a
  // multiple of the pages' memory, and of the time that reading them takes.
  std::vector<GrowthRow> gather(std::uint64_t order) const;

  const ByteSource& file_;
  const Superblock& superblock_;
  mutable std::mutex mutex_;                 // of what is mutable
  mutable std::set<std::uint64_t> checked_;  // orders
  mutable std::vector<std::shared_ptr<const Page>> pages_;
  mutable std::unordered_set<std::uint64_t> orders_;  // in pages_
  mutable bool loaded_ = false;                       // pages_ are all
  mutable GrowthRows rows_;                           // of blocks that were asked about
};

}  // namespace nmb
