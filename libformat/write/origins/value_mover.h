// Moves values: reads them from their sources, computes their sums and writes them to their places,
// in one pass on several threads (spec/format.md, section 10.1). A thread reads at most 1 MiB at a
// time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "extent/data_map.h"
#include "files/files.h"
#include "origins/ordered_digest.h"
#include "ranks/writer_options.h"
#include "sources/value_source.h"
#include "wire/bytes.h"

namespace nmb {

// Interface: receives each value of one extent once, while the values are moved. Called by any of
// the threads.
class ValueTap {
 public:
  ValueTap() = default;
  ValueTap(const ValueTap&) = delete;
  ValueTap& operator=(const ValueTap&) = delete;
  virtual ~ValueTap() = default;
  // Receives bytes of the extent. `offset` is the offset of the first byte in the extent. If take()
  // fails, the move fails.
  virtual Status take(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
};

// An extent that is filled from a source. Bytes that no run covers are zero.
struct Move {
  std::shared_ptr<const ByteSource> source{};
  // The description that another rank needs to open the source. Empty if no other rank can open the
  // source.
  std::string origin{};
  std::vector<ValueRuns> runs{};
  std::uint64_t length = 0;    // length of the extent in bytes
  std::uint64_t position = 0;  // position of the extent in the output
  // Holes: ranges of whole windows that are not stored in the output, in ascending order. In the
  // output, the bytes after a hole directly follow the bytes before it.
  std::vector<ByteRange> holes{};
  // The offsets at which windows end, if the windows do not have the length piece_size; otherwise
  // empty. After each end, the next window begins at the next multiple of 8. Must be empty if there
  // are holes or an origin.
  std::vector<std::uint64_t> ends{};
  ValueTap* tap = nullptr;  // not called for parts that another rank moves
  // Receives all bytes. Must be nullptr if there are holes, ends or an origin.
  OrderedDigest* digest = nullptr;
  bool summed = true;
  // Filled by move_values() if `summed` is set: one sum for each window that is not a hole.
  std::vector<std::uint64_t> sums{};

  // Returns the number of bytes in the output.
  std::uint64_t stored_length() const {
    std::uint64_t stored = length;
    for (const ByteRange& hole : holes) stored -= hole.length();
    return stored;
  }
  // Returns the number of windows that are not holes.
  std::uint64_t windows(std::uint32_t piece_size) const {
    return ends.empty() ? (stored_length() + piece_size - 1) / piece_size : ends.size();
  }
};

// Returns the whole windows of an extent that lie inside `ranges`. Adjacent windows become one
// range.
std::vector<ByteRange> whole_windows(const std::vector<ByteRange>& ranges, std::uint64_t length,
                                     std::uint32_t piece_size);

// Fills `out` with bytes of the extent, beginning at `offset`. stored: see read_runs().
inline Status read_moved(const Move& move, std::uint64_t offset, std::span<std::byte> out,
                         bool* stored = nullptr) {
  return read_runs(*move.source, move.runs, offset, out, stored);
}

// Number of bytes of memory that each thread uses for values.
inline constexpr std::size_t kMoveBuffer = 1 << 20;

// Performs all moves. `moves` must be in ascending order of position. The first failure stops all
// threads and is returned. Uses the options threads, cancel and progress.
Status move_values(std::vector<Move*>& moves, OutputFile& file, std::uint32_t piece_size,
                   const OutputOptions& options);

}  // namespace nmb
