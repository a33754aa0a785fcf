// What a dry run reports on ranks, memory and blocks (see PackPlan in nmb/merge.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "nmb/communicator.h"
#include "nmb/merge.h"

namespace nmb {

// How many names of blocks a plan lists.
inline constexpr std::size_t kFirstBlocks = 10;

// Collective. Determines ranks, memory and striping for a file of `bytes`. largest_load: memory
// that this rank's largest block of an NMB input takes while its values are moved.
Status plan_ranks(Communicator& ranks, const PackOptions& options, std::uint64_t bytes,
                  std::uint64_t largest_load, PackPlan* plan);

// Collective. Gathers blocks_of_input and first_blocks of all ranks, in the order of ranks, in rank
// 0's plan.
Status gather_blocks(Communicator& ranks, PackPlan* plan);

}  // namespace nmb
