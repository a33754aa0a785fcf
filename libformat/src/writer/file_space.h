// Free space of the file, given out to all ranks, so that positions do not depend on who has what.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "writer/placement.h"
#include "writer/writer_core.h"

namespace nmb {

// All collective. Each moves NextGeneration::cursor, on all ranks alike, behind what it gave out.

// What ranks have, one behind the other in order of ranks: returns where this rank's begins.
Result<std::uint64_t> take_space(WriterCore& w, const Placement& own);

struct Ordered {
  std::uint64_t order;  // of the block
  std::uint64_t length;
};
// Space for what ranks have of blocks, one behind the other in the order in which the blocks were
// created, whoever has them: returns where each begins. *end: of all; the cursor stays.
Result<std::vector<std::uint64_t>> place_in_order(WriterCore& w, const std::vector<Ordered>& parts,
                                                  std::uint64_t* end);

// The same for several requests of each block, some of which may go on where free space begins.
Result<std::vector<std::uint64_t>> ask_for_space(
    WriterCore& w, const std::vector<std::pair<BlockId, std::vector<SpaceRequest>>>& requests);

// Makes the file as long as what was placed in it: ranks that write need not. Not collective.
Status set_length(WriterCore& w);

}  // namespace nmb
