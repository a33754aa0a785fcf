// Distributes moves among ranks: a rank that has more values to move than its share gives some of
// its moves to other ranks (spec/rationale.md, "Merging by ranks").
#pragma once

#include <cstdint>
#include <vector>

#include "files/files.h"
#include "origins/value_mover.h"
#include "parallel/communicator.h"
#include "ranks/writer_options.h"

namespace nmb {

// Returns a new move that has only the stored bytes [from, to) of `move`. A window must begin at
// `from`, and a window must end at `to`.
Move part_of(const Move& move, std::uint64_t from, std::uint64_t to);

// Performs the moves of all ranks with move_values(). Collective. A move whose `origin` is empty
// stays on its rank. moves: this rank's moves, in ascending order of position; the call changes
// this list. status: this rank's status so far. If a rank has failed, the call fails on all ranks.
Status share_moves(Communicator& ranks, std::vector<Move*>& moves, OutputFile& file,
                   std::uint32_t piece_size, const FileWriterOptions& options, Status status = {});

}  // namespace nmb
