// Counts the values of a block for its statistics (spec/format.md, section 9.2).
#pragma once

#include <memory>

#include "values/statistics/block_counter.h"
#include "writer/writer_core.h"

namespace nmb {

Result<std::unique_ptr<BlockCounter>> counter_of(WriterCore& w, BlockId id);
// Counts the values of a block that were not counted while they were moved.
Result<CountedBlock> count_block(WriterCore& w, BlockId id);

}  // namespace nmb
