// Distributes moves among ranks: a rank that has more values to move than others leaves some to
// them (spec/rationale.md, "Merging by ranks").
#pragma once

#include <cstdint>
#include <vector>

#include "nmb/communicator.h"
#include "nmb/files.h"
#include "nmb/writer.h"
#include "writer/value_mover.h"

namespace nmb {

// Returns a part of a move as a separate move: the windows at [from, to) of its bytes in the
// output. from: the begin of a window; to: the end of one.
Move part_of(const Move& move, std::uint64_t from, std::uint64_t to);

// Collective: move_values() for the moves of all ranks. Each is done by the rank that has it or, if
// that rank has more than others, by one that has less. A move without an origin stays on its rank.
// moves: in ascending order of position; changed by the call. status: this rank's status so far; if
// one rank has failed, all fail.
Status share_moves(Communicator& ranks, std::vector<Move*>& moves, OutputFile& file,
                   std::uint32_t piece_size, const WriterOptions& options, Status status = {});

}  // namespace nmb
