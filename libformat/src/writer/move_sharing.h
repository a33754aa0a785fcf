// Moves dealt to ranks: who has more values to move than others leaves some to them
// (spec/rationale.md, "Merging by ranks").
#pragma once

#include <cstdint>
#include <vector>

#include "nmb/communicator.h"
#include "nmb/files.h"
#include "nmb/writer.h"
#include "writer/value_mover.h"

namespace nmb {

// A part of a move, as a move of its own: the windows that lie at [from, to) of its bytes in the
// output. from: the begin of a window; to: the end of one.
Move part_of(const Move& move, std::uint64_t from, std::uint64_t to);

// Collective: move_values() of all ranks' moves, each by the rank that has it or, if that has more
// than others, by one that has less. A move without an origin stays with its rank. moves: in
// ascending order of position; not the same afterwards. status: this rank's so far; all fail if one
// has.
Status share_moves(Communicator& ranks, std::vector<Move*>& moves, OutputFile& file,
                   std::uint32_t piece_size, const WriterOptions& options, Status status = {});

}  // namespace nmb
