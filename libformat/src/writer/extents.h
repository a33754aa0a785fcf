// The extent of a block, while values are put to it.
#pragma once

#include <cstdint>
#include <memory>

#include "writer/writer_core.h"

namespace nmb {

// Never nullptr. The origin of the values takes puts.
ExtentState* extent_of(WriterCore& w, BlockId id);
std::unique_ptr<ExtentState> new_extent(WriterCore& w, BlockId id);
// What the records of a block make of its extent.
void set_records(BlockState& block, std::uint64_t records);
// More records. What lies behind the last record (trailing bytes of a packed file) gives way.
Status grow(WriterCore& w, BlockId id, std::uint64_t records);
// The extent of a block to which values are put, with room for so many records.
Result<ExtentState*> start_put(WriterCore& w, BlockId id, std::uint64_t records);

}  // namespace nmb
