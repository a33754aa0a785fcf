// Computes the statistics of a block from its values (spec/format.md, section 9.3).
#pragma once

#include <functional>
#include <span>

#include "nmb/bytes.h"
#include "nmb/dataset.h"
#include "nmb/statistics.h"
#include "nmb/status.h"

namespace nmb {

// Reads the extent in windows of 1 MiB. Each thread needs memory for one window. holes: ranges of
// the extent in ascending order; these ranges are not read. Errors: kDamaged, kIo.
Result<BlockStatistics> count_block(const Dataset& block, std::span<const ByteRange> holes,
                                    StatisticsLevel level, unsigned threads,
                                    bool with_moments = false);

}  // namespace nmb
