// Growth: records and pieces that growth pages add to blocks (spec/format.md, section 10.4).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "extent/data_map.h"
#include "nmb/block_entry.h"
#include "nmb/byte_source.h"
#include "nmb/finding.h"
#include "superblock/superblock.h"

namespace nmb {

inline constexpr std::uint64_t kMaxGrowthPages = 1024;

struct GrowthRow {
  Piece piece;
  std::uint64_t records = 0;  // of the block, with the piece
  // Where they lie in the file, for findings.
  std::uint64_t order_at = 0, logical_at = 0, records_at = 0, position_at = 0, sum_at = 0,
                codec_at = 0;
};

// The rows of each block, by its order of creation.
using GrowthRows = std::map<std::uint64_t, std::vector<GrowthRow>>;

// Checks R-GR-1 (but for orders that no block has), R-GR-2 among rows and R-GR-3, and adds the rows
// of a page to those of the pages before it. False: the page's rows cannot be told.
bool add_growth_page(const Page& page, std::uint32_t piece_size, GrowthRows* rows,
                     Findings& findings);

// Checks R-GR-2 of a block's first row, and of its records, against its entry.
void check_growth_of(const BlockEntry& entry, std::span<const GrowthRow> rows, Findings& findings);

// Thread-safe. Pages are read once, when an entry is asked about first.
class Growth {
 public:
  // `file` outlives it.
  Growth(const ByteSource& file, const Superblock& superblock)
      : file_(file), superblock_(superblock) {}

  bool absent() const { return superblock_.growth.absent(); }
  // Adds to what the index says of a block what growth pages say of it. kDamaged, kIo.
  Status add_to(BlockEntry* entry) const;
  // Of an entry that add_to() has seen; they live as long as this.
  Result<std::span<const GrowthRow>> rows_of(const BlockEntry& entry) const;

 private:
  Result<const GrowthRows*> all() const;

  const ByteSource& file_;
  const Superblock& superblock_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const GrowthRows> rows_;
};

}  // namespace nmb
