// Makes the report of a dry run. The report has the number of ranks, the memory, the striping and
// the blocks (see PackPlan in merge/reporting/merge.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "merge/reporting/merge.h"
#include "parallel/communicator.h"

namespace nmb {

// The largest number of block names that a plan lists.
inline constexpr std::size_t kFirstBlocks = 10;

// Collective. Determines the number of ranks, the memory and the striping for a file of `bytes`
// bytes. largest_load: bytes of memory that this rank's largest block takes while its values are
// moved.
Status plan_ranks(Communicator& ranks, const PackOptions& options, std::uint64_t bytes,
                  std::uint64_t largest_load, PackPlan* plan);

// Collective. Collects the fields blocks_of_input and first_blocks of all ranks in rank 0's plan,
// in the order of ranks.
Status gather_blocks(Communicator& ranks, PackPlan* plan);

}  // namespace nmb
