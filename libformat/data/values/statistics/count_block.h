// Computes the statistics of a block from its values (spec/tables.md, section 9.3).
#pragma once

#include <functional>
#include <span>

#include "model/dataset.h"
#include "nmb/statistics.h"
#include "values/statistics/extent_counter.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// Reads the extent, or only the parts of it that have values to count, in windows of 1 MiB, one for
// each thread. holes: ranges of the extent that are not read, in ascending order. Errors: kDamaged,
// kIo.
Result<BlockStatistics> count_block(const Dataset& block, std::span<const ByteRange> holes,
                                    const CountRequest& request, unsigned threads);

}  // namespace nmb
