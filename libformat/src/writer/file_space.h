// Free space of the file, given out to all ranks, so that positions do not depend on who has what.
#pragma once

#include <cstdint>

#include "writer/placement.h"
#include "writer/writer_core.h"

namespace nmb {

// Collective: what ranks have, one behind the other in order of ranks: returns where this rank's
// begins. NextGeneration::cursor moves behind all of it.
Result<std::uint64_t> take_space(WriterCore& w, const Placement& own);

// Makes the file as long as what was placed in it: ranks that write need not. Not collective.
Status set_length(WriterCore& w);

}  // namespace nmb
