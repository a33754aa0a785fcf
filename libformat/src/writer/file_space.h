// Distributes free space of the file among all ranks; the positions do not depend on which rank has
// which block.
#pragma once

#include <cstdint>

#include "writer/placement.h"
#include "writer/writer_core.h"

namespace nmb {

// Collective: places what the ranks have one after another, in the order of ranks. Returns where
// this rank's part begins. NextGeneration::cursor moves to the end.
Result<std::uint64_t> take_space(WriterCore& w, const Placement& own);

// Extends the file to the end of everything that was placed, even if a rank does not write its
// part. Not collective.
Status set_length(WriterCore& w);

}  // namespace nmb
