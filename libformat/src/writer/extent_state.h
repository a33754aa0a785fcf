// ExtentState: a block's values while they are being written: where bytes are stored, which were
// written since the last commit, and what the next commit makes of them (spec/format.md,
// section 10.1).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "format/extent/data_map.h"
#include "nmb/values.h"
#include "parallel/message_codec.h"
#include "writer/finished_extent.h"
#include "writer/interval_set.h"
#include "writer/stage.h"
#include "writer/write_buffer.h"
#include "writer/written.h"

namespace nmb {

// Where committed pieces are accounted for that are no longer used.
class DeadPieces {
 public:
  virtual ~DeadPieces() = default;
  virtual void piece_died(const Piece& piece) = 0;
};

// Writes bytes to a position of the file.
using WriteAt = std::function<Status(std::uint64_t position, std::span<const std::byte> bytes)>;

// Space for values: at `tail` if free space begins there (rounded up to 8), else aligned as an
// extent of that length is.
struct SpaceRequest {
  std::uint64_t length = 0;
  std::uint64_t tail = 0;  // 0: anywhere
};

// Visits the committed pieces that touch [from, to), in order, holes among them.
using CommittedPieces = std::function<Status(std::uint64_t from, std::uint64_t to,
                                             const std::function<Status(const Piece&)>& visit)>;

// Bytes that have space in the file and are not committed are written in place; others wait in a
// stage until places are planned (by the rank that keeps the block) and taken. Committed pieces are
// asked for where they are read or changed: an extent that only grows needs none. Not thread-safe.
class ExtentState {
 public:
  ExtentState(std::uint32_t piece_size, CommittedPieces committed)
      : piece_size_(piece_size), committed_(std::move(committed)) {}

  // A run that was set apart for [0, length) and not committed.
  void start_run(std::uint64_t length, std::uint64_t position);
  // A committed state.
  void start_committed(std::uint64_t length);
  // Asks for the committed pieces from `offset` on.
  Status load(std::uint64_t offset);

  std::uint64_t length() const { return length_; }
  // Longer: new bytes are unwritten.
  void add_unwritten(std::uint64_t length) { length_ = length; }
  // Longer: new bytes are unwritten. Shorter: bytes behind are forgotten (those not committed
  // become zero in the file); a committed piece that is cut is written anew when places are
  // planned.
  Status resize(std::uint64_t length, WriteBuffer& file, DeadPieces& dead);
  // What has no space that is not committed waits in `stage`.
  Status write(std::uint64_t offset, std::span<const std::byte> bytes, WriteBuffer& file,
               Stage& stage);

  // --- places for what waits ---
  bool needs_places() const {
    return !staged_.empty() || !wanted_.empty() || wants_records_ || has_cut();
  }
  // [from, to) gets its place with what waits; values follow.
  void want_place(std::uint64_t from, std::uint64_t to) { wanted_.add(from, to); }
  // The keeper hears of more records with what waits.
  void want_records() { wants_records_ = true; }
  // Whether all of [from, to) has space that is not committed.
  bool is_fresh(std::uint64_t from, std::uint64_t to) const;
  // Bytes from here on were added since the extent got its run or was committed.
  std::uint64_t first_new() const { return first_new_; }
  // What will be one piece of the file, whatever is written to it before the commit.
  struct FreshPiece {
    std::uint64_t logical, length, position;
    std::uint64_t end() const { return logical + length; }
  };
  // That which holds `offset`, which has space that is not committed.
  FreshPiece fresh_piece_at(std::uint64_t offset) const;
  // Whether something has space that is not committed.
  bool has_fresh() const;
  // What waits.
  std::vector<Interval> staged() const;
  // That, and what else wants places.
  std::vector<Interval> unplaced() const;
  // Plans space for `intervals` (ascending, disjoint) where there is none, for a few new bytes
  // between them, and for committed pieces that they touch. take_places() follows with a position
  // for each request; it copies what is kept of those pieces.
  Result<std::vector<SpaceRequest>> plan_places(std::span<const Interval> asked);
  Status take_places(std::span<const std::uint64_t> positions, WriteBuffer& file, DeadPieces& dead);
  // Space in `intervals`, for the state of another rank.
  void put_places(std::span<const Interval> intervals, MessageWriter& out) const;
  Status take_places(MessageReader& in);
  // A run of bytes that waits.
  struct Staged {
    std::uint64_t offset, length;
    std::uint64_t place;  // in the stage
  };
  // What waits but for the bytes in `skip`, in ascending order; of bytes put twice the last. None
  // does any longer.
  std::vector<Staged> take_staged(IntervalSet skip);
  // One of them, which has its place now.
  Status write_staged(const Staged& run, const WriteAt& write, const Stage& stage);

  // Reads written bytes; unwritten ones as `fill` says. Not what waits.
  Status read(std::uint64_t offset, std::span<std::byte> out, WriteBuffer& file,
              const FillPattern& fill);
  // The parts of [from, to) that hold values; load(from) comes before.
  std::vector<Interval> stored_in(std::uint64_t from, std::uint64_t to) const;

  // What was written since the last commit: of this rank, and of others that tell it.
  Written& written() { return written_; }

  // Fills what was written in part, sums what has no sum, and returns the pieces that cover the
  // extent, or, where that is enough, those that come behind the committed ones. whole: it is not
  // enough.
  Result<FinishedExtent> finish(WriteBuffer& file, const FillPattern& fill, bool whole);
  // After a commit: the pieces of finish() are committed.
  void committed() { start_committed(length_); }

 private:
  struct Segment {
    std::uint64_t logical = 0;
    std::uint64_t length = 0;  // set apart in the file
    std::uint64_t position = 0;
    bool fresh = false;                    // not committed
    std::uint64_t sum = 0;                 // of a committed piece
    std::uint64_t cut = 0;                 // bytes that a committed piece had more
    PieceCodec codec = PieceCodec::kNone;  // of a committed piece
    std::uint64_t coded_length = 0;        // as Piece has it
    std::uint32_t file = 0;                // as Piece has it
    std::uint64_t end() const { return logical + length; }
    // The committed piece, whole.
    Piece piece() const {
      return {logical, length + cut, false, position, sum, codec, coded_length, file};
    }
  };
  // A segment whose position is not known yet.
  struct Planned {
    std::size_t segment;  // in segments_
    Segment
        old;  // the committed piece of which it takes the place, or that of a part; length 0: none
    bool copied;  // bytes of that are kept
    bool last;    // none other takes the place of a part of it
  };
  std::size_t first_segment_at(std::uint64_t offset) const;
  Status clear(const Segment& segment, std::uint64_t from, WriteBuffer& file) const;
  // Bytes of a segment from `offset` of the extent on.
  Status read_segment(const Segment& segment, std::uint64_t offset, std::span<std::byte> out,
                      WriteBuffer& file) const;
  bool has_cut() const;
  // No segment has any of [from, to).
  bool is_gap(std::uint64_t from, std::uint64_t to) const;
  std::vector<Interval> without_fresh(std::span<const Interval> intervals) const;
  std::vector<Interval> with_small_gaps(std::span<const Interval> intervals) const;
  void plan_gap(std::uint64_t from, std::uint64_t to, std::vector<Segment>* segments,
                std::vector<SpaceRequest>* requests);
  void join_segments();
  FreshPiece piece_of(const Segment& segment, std::uint64_t offset) const;
  Status stage(std::uint64_t offset, std::span<const std::byte> bytes, Stage& stage);
  Status write_fresh(const Segment& segment, std::uint64_t at, std::span<const std::byte> part,
                     const WriteAt& write);
  std::uint32_t piece_size_;
  CommittedPieces committed_;
  std::uint64_t length_ = 0;
  bool is_committed_ = false;  // or rather, was by the last generation
  std::uint64_t committed_length_ = 0;
  // Committed pieces that begin before are not in segments_, nor does anything else lie there.
  std::uint64_t loaded_from_ = 0;
  std::vector<Segment> segments_;  // sorted by logical offset, disjoint
  Written written_;                // in fresh segments
  IntervalSet wanted_;
  bool wants_records_ = false;
  std::uint64_t first_new_ = 0;
  std::vector<Staged> staged_;  // in the order of the calls
  std::vector<Planned> planned_;
  // The coded piece that was read last, until its end is.
  mutable std::vector<std::byte> decoded_;
  mutable std::uint64_t decoded_position_ = 0;
};

// Reads [position, position + length) and sums it.
Result<std::uint64_t> sum_in_file(WriteBuffer& file, std::uint64_t position, std::uint64_t length);

}  // namespace nmb
