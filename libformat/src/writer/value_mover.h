// ValueMover: reads values where they lie, sums them and writes them to their place in one pass, in
// windows of at most 1 MiB on several threads (spec/format.md, section 10.1).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "extent/data_map.h"
#include "nmb/byte_source.h"
#include "nmb/output_file.h"
#include "nmb/writer.h"

namespace nmb {

// One extent to be filled from a source; bytes that no run covers are zero.
struct Move {
  std::shared_ptr<const ByteSource> source;
  std::vector<ValueRuns> runs;
  std::uint64_t length = 0;    // of the extent
  std::uint64_t position = 0;  // in the output
  // Filled by the mover: one sum for each window of piece_size.
  std::vector<std::uint64_t> sums;
};

// Fills `out`, which is the extent's bytes from `offset`. *stored: false if all of it is known to
// be zeros that the source does not store (left alone if null).
Status read_moved(const Move& move, std::uint64_t offset, std::span<std::byte> out,
                  bool* stored = nullptr);

// moves: in ascending order of position. The first failure stops all threads and is returned.
// Of the options: threads, cancel, progress.
Status move_values(std::vector<Move*>& moves, OutputFile& file, std::uint32_t piece_size,
                   const WriterOptions& options);

}  // namespace nmb
