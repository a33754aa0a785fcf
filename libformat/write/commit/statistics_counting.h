// Computes the statistics of a block's values (spec/tables.md, section 9.2).
#pragma once

#include <memory>

#include "state/writer_core.h"
#include "values/statistics/extent_counter.h"

namespace nmb {

Result<std::unique_ptr<ExtentCounter>> counter_of(WriterCore& w, BlockId id);
// Returns the statistics of a block. Counts the values that the commit moved without counting them.
Result<NamedStatistics> count_block(WriterCore& w, BlockId id);

}  // namespace nmb
