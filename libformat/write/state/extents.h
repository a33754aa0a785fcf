// Manages the extent of a block while values are put to the block.
#pragma once

#include <cstdint>
#include <memory>

#include "state/writer_core.h"

namespace nmb {

// Returns the state of a block's extent, and creates it if there is none; never returns nullptr.
// The origin of the values must accept puts.
ExtentState* extent_of(WriterCore& w, BlockId id);
std::unique_ptr<ExtentState> new_extent(WriterCore& w, BlockId id);
// Sets the number of records and the length of the extent.
void set_records(BlockState& block, std::uint64_t records);
// Removes the bytes after the block's last record (the trailing bytes of a packed file), and then
// adds records to the block.
Status grow(WriterCore& w, BlockId id, std::uint64_t records);
// Prepares a block for a put, and returns the state of its extent. Adds records if the block has
// fewer than `records`.
Result<ExtentState*> start_put(WriterCore& w, BlockId id, std::uint64_t records);

}  // namespace nmb
