// Statistics of a block, counted from its values (spec/format.md, section 9.3).
#pragma once

#include <functional>
#include <span>

#include "nmb/bytes.h"
#include "nmb/dataset.h"
#include "nmb/statistics.h"
#include "nmb/status.h"

namespace nmb {

// holes: ranges of the extent, ascending, that are not read. Reads windows of 1 MiB on several
// threads; memory: one window for each. Errors: kDamaged, kIo.
Result<BlockStatistics> count_block(const Dataset& block, std::span<const ByteRange> holes,
                                    StatisticsLevel level, unsigned threads);

}  // namespace nmb
