// Distributes free space of the file among all ranks. The positions of blocks do not depend on the
// distribution of blocks among ranks.
#pragma once

#include <cstdint>

#include "writer/placement.h"
#include "writer/writer_core.h"

namespace nmb {

// Reserves the space that each rank needs, in the order of ranks. Returns the position where this
// rank's space begins. Moves NextGeneration::cursor to the end of the reserved space. Collective.
Result<std::uint64_t> take_space(WriterCore& w, const Placement& own);

// Extends the file to the end of all reserved space, so that the file is long enough even if a rank
// does not write to its space. Not collective.
Status set_length(WriterCore& w);

}  // namespace nmb
