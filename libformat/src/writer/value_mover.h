// ValueMover: reads values where they lie, sums them and writes them to their place in one pass, in
// windows of at most 1 MiB on several threads (spec/format.md, section 10.1).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "format/extent/data_map.h"
#include "nmb/bytes.h"
#include "nmb/files.h"
#include "nmb/writer.h"

namespace nmb {

// Sees the values of one extent on their way, once each; called by any of the threads.
class ValueTap {
 public:
  ValueTap() = default;
  ValueTap(const ValueTap&) = delete;
  ValueTap& operator=(const ValueTap&) = delete;
  virtual ~ValueTap() = default;
  // Bytes of the extent from `offset` on. A failure is the move's.
  virtual Status take(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
};

// One extent to be filled from a source; bytes that no run covers are zero.
struct Move {
  std::shared_ptr<const ByteSource> source{};
  std::string origin{};  // what another rank opens the source by; empty: it cannot
  std::vector<ValueRuns> runs{};
  std::uint64_t length = 0;    // of the extent
  std::uint64_t position = 0;  // in the output
  // Windows of piece_size that have no place in the output: what follows one lies behind what is
  // ahead of it. Ascending; each begins and ends with a window.
  std::vector<ByteRange> holes{};
  // Windows of other lengths, in place of those of piece_size: where each ends; the next begins at
  // the multiple of 8 behind it. Without holes and origin.
  std::vector<std::uint64_t> ends{};
  ValueTap* tap = nullptr;  // not of what another rank moves
  bool summed = true;
  // Filled by the mover if `summed`: one sum for each window that is no hole.
  std::vector<std::uint64_t> sums{};

  // Bytes in the output.
  std::uint64_t stored_length() const {
    std::uint64_t stored = length;
    for (const ByteRange& hole : holes) stored -= hole.length();
    return stored;
  }
  // Those that are no holes.
  std::uint64_t windows(std::uint32_t piece_size) const {
    return ends.empty() ? (stored_length() + piece_size - 1) / piece_size : ends.size();
  }
};

// The whole windows of an extent that lie in `ranges`, those that follow one another as one.
std::vector<ByteRange> whole_windows(const std::vector<ByteRange>& ranges, std::uint64_t length,
                                     std::uint32_t piece_size);

// Fills `out`, which is the extent's bytes from `offset`. *stored: false if all of it is known to
// be zeros that the source does not store (left alone if null).
Status read_moved(const Move& move, std::uint64_t offset, std::span<std::byte> out,
                  bool* stored = nullptr);

// Memory that each of the threads takes for values on their way, in bytes.
inline constexpr std::size_t kMoveBuffer = 1 << 20;

// moves: in ascending order of position. The first failure stops all threads and is returned.
// Of the options: threads, cancel, progress.
Status move_values(std::vector<Move*>& moves, OutputFile& file, std::uint32_t piece_size,
                   const WriterOptions& options);

}  // namespace nmb
