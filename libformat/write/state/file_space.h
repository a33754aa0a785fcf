// Distributes free space of the file among all ranks. The position of a block does not depend on
// the rank that writes the block.
#pragma once

#include <cstdint>

#include "origins/placement.h"
#include "state/writer_core.h"

namespace nmb {

// Reserves the space that each rank needs, in the order of ranks. Returns the position where this
// rank's space begins. Moves NextGeneration::cursor to the end of the reserved space. Collective.
Result<std::uint64_t> take_space(WriterCore& w, const Placement& own);

// Extends the file to the end of the reserved space, because a rank need not write to all its
// space. Not collective.
Status set_length(WriterCore& w);

}  // namespace nmb
