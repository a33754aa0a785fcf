// ExtentState: a block's values while they are being written: where bytes are stored, which were
// written since the last commit, and what the next commit makes of them (spec/format.md,
// section 10.1).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "extent/data_map.h"
#include "nmb/values.h"
#include "parallel/message_codec.h"
#include "writer/interval_set.h"
#include "writer/write_buffer.h"

namespace nmb {

// Where new pieces and dead ones are accounted for.
class SpaceAllocator {
 public:
  virtual ~SpaceAllocator() = default;
  // Space for `length` bytes behind all that is taken; a multiple of `alignment`.
  virtual std::uint64_t allocate(std::uint64_t length, std::uint64_t alignment) = 0;
  // The space taken last is longer: true if [position, position + length) was that.
  virtual bool extend(std::uint64_t position, std::uint64_t length, std::uint64_t more) = 0;
  virtual void piece_died(const Piece& piece) = 0;
};

// Not thread-safe.
class ExtentState {
 public:
  explicit ExtentState(std::uint32_t piece_size) : piece_size_(piece_size) {}

  // A run that was set apart for [0, length) and not committed.
  void start_run(std::uint64_t length, std::uint64_t position);
  // A committed state.
  void start_committed(std::uint64_t length, const std::vector<Piece>& pieces);

  std::uint64_t length() const { return length_; }
  // Longer: new bytes are unwritten. Shorter: bytes behind are forgotten (those not committed
  // become zero in the file), the committed piece that is cut is written anew.
  Status resize(std::uint64_t length, WriteBuffer& file, SpaceAllocator& space);
  // Writes bytes; committed pieces that they touch are copied to new places first.
  Status write(std::uint64_t offset, std::span<const std::byte> bytes, WriteBuffer& file,
               SpaceAllocator& space);
  // Reads written bytes; unwritten ones as `fill` says.
  Status read(std::uint64_t offset, std::span<std::byte> out, WriteBuffer& file,
              const FillPattern& fill) const;
  // The parts of [from, to) that hold values.
  std::vector<Interval> stored_in(std::uint64_t from, std::uint64_t to) const;

  // What was written since the last commit, for another rank's state of the same extent. Where both
  // wrote a window it has no known sum.
  void put_written(MessageWriter& out) const;
  void take_written(MessageReader& in);

  // Fills what was written in part, sums what has no sum, and returns the pieces that cover the
  // extent.
  Result<std::vector<Piece>> finish(WriteBuffer& file, const FillPattern& fill);
  // After a commit: the pieces of finish() are committed.
  void committed(const std::vector<Piece>& pieces) { start_committed(length_, pieces); }

 private:
  struct Segment {
    std::uint64_t logical = 0;
    std::uint64_t length = 0;  // set apart in the file
    std::uint64_t position = 0;
    bool fresh = false;     // not committed
    std::uint64_t sum = 0;  // of a committed piece
    std::uint64_t end() const { return logical + length; }
  };
  std::size_t first_segment_at(std::uint64_t offset) const;
  Status clear(const Segment& segment, std::uint64_t from, WriteBuffer& file) const;
  Status make_fresh(std::size_t index, std::uint64_t new_length, WriteBuffer& file,
                    SpaceAllocator& space);
  void allocate_gap(std::size_t index, std::uint64_t from, std::uint64_t to, std::uint64_t gap_end,
                    SpaceAllocator& space);
  // Sums known from a write of a whole window, by its offset.
  void forget_sums(std::uint64_t from, std::uint64_t to);

  std::uint32_t piece_size_;
  std::uint64_t length_ = 0;
  std::vector<Segment> segments_;  // sorted by logical offset, disjoint
  IntervalSet written_;            // in fresh segments
  std::map<std::uint64_t, std::uint64_t> sums_;
};

// Alignment of an extent or piece of that length (spec/format.md, section 8).
constexpr std::uint64_t extent_alignment(std::uint64_t length) {
  return length >= (1u << 20) ? 4096 : 8;
}

// Reads [position, position + length) and sums it.
Result<std::uint64_t> sum_in_file(WriteBuffer& file, std::uint64_t position, std::uint64_t length);

}  // namespace nmb
