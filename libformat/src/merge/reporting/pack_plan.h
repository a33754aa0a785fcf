// What a dry run tells of ranks, memory and blocks (see PackPlan in nmb/merge.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "nmb/communicator.h"
#include "nmb/merge.h"

namespace nmb {

// Names of blocks that a plan tells.
inline constexpr std::size_t kFirstBlocks = 10;

// Collective. Ranks, memory and striping of a file of `bytes`. largest_load: memory that this
// rank's largest block of an NMB input takes while its values are moved.
Status plan_ranks(Communicator& ranks, const PackOptions& options, std::uint64_t bytes,
                  std::uint64_t largest_load, PackPlan* plan);

// Collective. blocks_of_input and first_blocks of all ranks, in the order of ranks, are in rank 0's
// plan.
Status gather_blocks(Communicator& ranks, PackPlan* plan);

}  // namespace nmb
