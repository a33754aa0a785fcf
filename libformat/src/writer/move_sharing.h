// Distributes moves among ranks: a rank that has more values to move than other ranks gives some of
// them to those ranks (spec/rationale.md, "Merging by ranks").
#pragma once

#include <cstdint>
#include <vector>

#include "nmb/communicator.h"
#include "nmb/files.h"
#include "nmb/writer.h"
#include "writer/value_mover.h"

namespace nmb {

// Returns a part of a move as a separate move: the bytes [from, to) of its stored bytes. `from`
// must be the begin of a window and `to` the end of a window.
Move part_of(const Move& move, std::uint64_t from, std::uint64_t to);

// Performs the moves of all ranks with move_values(). Collective. A rank that has more bytes to
// move than other ranks gives some of its moves to ranks that have fewer bytes. A move without an
// origin stays on its rank. moves: this rank's moves, in ascending order of position; the call
// changes this list. status: this rank's status so far. If a rank has failed, the call fails on all
// ranks.
Status share_moves(Communicator& ranks, std::vector<Move*>& moves, OutputFile& file,
                   std::uint32_t piece_size, const WriterOptions& options, Status status = {});

}  // namespace nmb
