// ValueMover: reads values from their sources, computes their sums and writes them to their places
// in one pass, in windows of at most 1 MiB on several threads (spec/format.md, section 10.1).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "format/extent/data_map.h"
#include "nmb/bytes.h"
#include "nmb/files.h"
#include "nmb/writer.h"
#include "writer/ordered_digest.h"

namespace nmb {

// Receives the values of one extent while they are moved, each once; any of the threads may call
// it.
class ValueTap {
 public:
  ValueTap() = default;
  ValueTap(const ValueTap&) = delete;
  ValueTap& operator=(const ValueTap&) = delete;
  virtual ~ValueTap() = default;
  // Takes bytes of the extent from `offset` on. If it fails, the move fails.
  virtual Status take(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
};

// One extent that is filled from a source; bytes that no run covers are zero.
struct Move {
  std::shared_ptr<const ByteSource> source{};
  std::string origin{};  // how another rank opens the source; empty: it cannot
  std::vector<ValueRuns> runs{};
  std::uint64_t length = 0;    // of the extent
  std::uint64_t position = 0;  // in the output
  // Windows of piece_size that are not stored in the output: what follows them is placed directly
  // after what precedes them. Ascending; each begins and ends with a window.
  std::vector<ByteRange> holes{};
  // The ends of windows of other lengths, which replace those of piece_size; the next window begins
  // at the next multiple of 8. Only without holes and origin.
  std::vector<std::uint64_t> ends{};
  ValueTap* tap = nullptr;          // not called for parts that another rank moves
  OrderedDigest* digest = nullptr;  // of all bytes; only without holes, ends and origin
  bool summed = true;
  // Filled by the mover if `summed`: one sum for each window that is not a hole.
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
  // Returns the first run that does not end before `offset`.
  auto run_at(std::uint64_t offset) const {
    return std::ranges::upper_bound(runs, offset, {}, [](const ValueRuns& r) {
      return r.extent_offset + (r.count - 1) * r.extent_stride + r.length;
    });
  }
};

// Returns the whole windows of an extent that are inside `ranges`; adjacent ones are joined.
std::vector<ByteRange> whole_windows(const std::vector<ByteRange>& ranges, std::uint64_t length,
                                     std::uint32_t piece_size);

// Fills `out` with the extent's bytes from `offset` on. *stored: false if all of them are known to
// be zeros that the source does not store; may be null.
Status read_moved(const Move& move, std::uint64_t offset, std::span<std::byte> out,
                  bool* stored = nullptr);

// How many bytes of memory each thread uses for values.
inline constexpr std::size_t kMoveBuffer = 1 << 20;

// moves: in ascending order of position. The first failure stops all threads and is returned. Uses
// the options threads, cancel, progress.
Status move_values(std::vector<Move*>& moves, OutputFile& file, std::uint32_t piece_size,
                   const WriterOptions& options);

}  // namespace nmb
