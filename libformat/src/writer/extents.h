// The extent of a block while values are put to it.
#pragma once

#include <cstdint>
#include <memory>

#include "writer/writer_core.h"

namespace nmb {

// Never returns nullptr. The origin of the values must accept puts.
ExtentState* extent_of(WriterCore& w, BlockId id);
std::unique_ptr<ExtentState> new_extent(WriterCore& w, BlockId id);
// Sets the number of records and the length of the extent.
void set_records(BlockState& block, std::uint64_t records);
// Adds records. Bytes after the last record (trailing bytes of a packed file) are removed.
Status grow(WriterCore& w, BlockId id, std::uint64_t records);
// Returns the extent of a block to which values are put, with space for `records` records.
Result<ExtentState*> start_put(WriterCore& w, BlockId id, std::uint64_t records);

}  // namespace nmb
