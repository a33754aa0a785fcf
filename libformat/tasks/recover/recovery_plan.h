// Plans the recovery of each block: which version of the block is taken, and which of its values
// are undamaged (spec/recovery.md, section 19).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "extent/data_map.h"
#include "reader/reader_core.h"
#include "recover/current_index.h"
#include "recover/evidence.h"
#include "recover/recover.h"
#include "wire/block_entry.h"

namespace nmb {

// A block for the new index.
struct RecoveredEntry {
  FoundBlock found;
  BlockEntry entry;
  // The pieces of the extent, if the entry needs a new data map; otherwise empty.
  std::vector<Piece> pieces;
  std::vector<ByteRange> places;  // ranges of the file that hold the values
};

struct RecoveryPlan {
  std::vector<RecoveredEntry> blocks;  // sorted by name
  std::vector<LostBlock> lost;         // sorted by name
};

// `core` reads the file of `evidence`. Uses the fields `partial`, `unverified`, `writer.threads`
// and `writer.cancel` of `options`. Errors: kIo, also if the call is cancelled.
Result<RecoveryPlan> plan_recovery(const ReaderCore& core, const Evidence& evidence,
                                   const CurrentIndex& index, const RecoveryOptions& options);

}  // namespace nmb
