// ExtentState: a block's values while they are being written: where bytes are stored, which bytes
// were written since the last commit, and which pieces the next commit makes (spec/format.md,
// section 10.1).
#pragma once

#include <cstdint>
#include <functional>
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

// Receives committed pieces that are no longer used.
class DeadPieces {
 public:
  virtual ~DeadPieces() = default;
  virtual void piece_died(const Piece& piece) = 0;
};

// Writes bytes at a position of the file.
using WriteAt = std::function<Status(std::uint64_t position, std::span<const std::byte> bytes)>;

// A request for space for values: at `tail` if free space begins there (rounded up to 8), otherwise
// with the alignment of an extent of that length.
struct SpaceRequest {
  std::uint64_t length = 0;
  std::uint64_t tail = 0;  // 0: anywhere
};

// Visits the committed pieces that overlap [from, to), in order, including holes.
using CommittedPieces = std::function<Status(std::uint64_t from, std::uint64_t to,
                                             const std::function<Status(const Piece&)>& visit)>;

// Bytes that have space in the file and are not committed are written in place. Other bytes wait in
// a stage until the rank that keeps the block has planned their places and these were taken.
// Committed pieces are only loaded if they are read or changed: an extent that only grows does not
// need them. Not thread-safe.
class ExtentState {
 public:
  ExtentState(std::uint32_t piece_size, CommittedPieces committed)
      : piece_size_(piece_size), committed_(std::move(committed)) {}

  // Starts with a run that was reserved for [0, length) and is not committed.
  void start_run(std::uint64_t length, std::uint64_t position);
  // Starts with a committed extent.
  void start_committed(std::uint64_t length);
  // Loads the committed pieces from `offset` on.
  Status load(std::uint64_t offset);

  std::uint64_t length() const { return length_; }
  // Makes the extent longer: new bytes are unwritten.
  void add_unwritten(std::uint64_t length) { length_ = length; }
  // If the extent becomes longer, new bytes are unwritten. If it becomes shorter, bytes after its
  // end are forgotten (those that are not committed become zero in the file); a committed piece
  // that is cut is written again when places are planned.
  Status resize(std::uint64_t length, WriteBuffer& file, DeadPieces& dead);
  // Bytes that have no uncommitted space wait in `stage`.
  Status write(std::uint64_t offset, std::span<const std::byte> bytes, WriteBuffer& file,
               Stage& stage);

  // --- places for what waits ---
  bool needs_places() const {
    return !staged_.empty() || !wanted_.empty() || wants_records_ || has_cut();
  }
  // Requests a place for [from, to) when waiting bytes get theirs; the values follow later.
  void want_place(std::uint64_t from, std::uint64_t to) { wanted_.add(from, to); }
  // The keeper must learn of new records when it places waiting bytes.
  void want_records() { wants_records_ = true; }
  // Returns whether all of [from, to) has space that is not committed.
  bool is_fresh(std::uint64_t from, std::uint64_t to) const;
  // Returns where the bytes begin that were added after the extent got its run or was committed.
  std::uint64_t first_new() const { return first_new_; }
  // A range that becomes one piece of the file, whatever is written to it before the commit.
  struct FreshPiece {
    std::uint64_t logical, length, position;
    std::uint64_t end() const { return logical + length; }
  };
  // Returns the piece that contains `offset`, which must have space that is not committed.
  FreshPiece fresh_piece_at(std::uint64_t offset) const;
  // Returns whether some bytes have space that is not committed.
  bool has_fresh() const;
  // Returns the bytes that wait in the stage.
  std::vector<Interval> staged() const;
  // Returns these bytes and all other bytes that need places.
  std::vector<Interval> unplaced() const;
  // Plans space for `intervals` (ascending, disjoint) that have none, for a few new bytes between
  // them, and for committed pieces that they overlap. Then call take_places() with a position for
  // each request; it copies those bytes of the committed pieces that are kept.
  Result<std::vector<SpaceRequest>> plan_places(std::span<const Interval> asked);
  Status take_places(std::span<const std::uint64_t> positions, WriteBuffer& file, DeadPieces& dead);
  // Sends the space in `intervals` to the state of another rank.
  void put_places(std::span<const Interval> intervals, MessageWriter& out) const;
  Status take_places(MessageReader& in);
  // A run of waiting bytes.
  struct Staged {
    std::uint64_t offset, length;
    std::uint64_t place;  // in the stage
  };
  // Returns the waiting bytes in ascending order, without the bytes in `skip`; if bytes were put
  // twice, the last values count. No bytes wait afterwards.
  std::vector<Staged> take_staged(IntervalSet skip);
  // Writes one of these runs, which must have its place now.
  Status write_staged(const Staged& run, const WriteAt& write, const Stage& stage);

  // Reads written bytes; unwritten bytes come from `fill`. Does not read waiting bytes.
  Status read(std::uint64_t offset, std::span<std::byte> out, WriteBuffer& file,
              const FillPattern& fill);
  // Returns the parts of [from, to) that have values; call load(from) before.
  std::vector<Interval> stored_in(std::uint64_t from, std::uint64_t to) const;

  // The bytes written since the last commit by this rank, and by other ranks that reported theirs.
  Written& written() { return written_; }

  // Fills pieces that were written in part and computes missing sums. Returns the pieces that cover
  // the extent or, if `whole` is not set, only those after the committed pieces if these stay
  // valid.
  Result<FinishedExtent> finish(WriteBuffer& file, const FillPattern& fill, bool whole);
  // Call this after a commit: the pieces of finish() are committed.
  void committed() { start_committed(length_); }

 private:
  struct Segment {
    std::uint64_t logical = 0;
    std::uint64_t length = 0;  // reserved in the file
    std::uint64_t position = 0;
    bool fresh = false;                    // not committed
    std::uint64_t sum = 0;                 // for a committed piece
    std::uint64_t cut = 0;                 // how many bytes longer the committed piece is
    PieceCodec codec = PieceCodec::kNone;  // for a committed piece
    std::uint64_t coded_length = 0;        // like that of Piece
    std::uint32_t file = 0;                // like that of Piece
    std::uint64_t end() const { return logical + length; }
    // Returns the whole committed piece.
    Piece piece() const {
      return {logical, length + cut, false, position, sum, codec, coded_length, file};
    }
  };
  // A segment whose position is not known yet.
  struct Planned {
    std::size_t segment;  // index in segments_
    Segment old;  // the committed piece that it replaces, completely or in part; length 0: none
    bool copied;  // bytes of that piece are kept
    bool last;    // no later segment replaces a part of that piece
  };
  std::size_t first_segment_at(std::uint64_t offset) const;
  Status clear(const Segment& segment, std::uint64_t from, WriteBuffer& file) const;
  // Reads bytes of a segment from `offset` of the extent on.
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
  bool is_committed_ = false;  // true: committed by the last generation
  std::uint64_t committed_length_ = 0;
  // Committed pieces that begin before this offset are not in segments_, and nothing else is stored
  // there.
  std::uint64_t loaded_from_ = 0;
  std::vector<Segment> segments_;  // sorted by logical offset, disjoint
  Written written_;                // in segments that are not committed
  IntervalSet wanted_;
  bool wants_records_ = false;
  std::uint64_t first_new_ = 0;
  std::vector<Staged> staged_;  // in the order of the calls
  std::vector<Planned> planned_;
  // The coded piece that was read last; kept until its end was read.
  mutable std::vector<std::byte> decoded_;
  mutable std::uint64_t decoded_position_ = 0;
};

// Reads [position, position + length) and returns its sum.
Result<std::uint64_t> sum_in_file(WriteBuffer& file, std::uint64_t position, std::uint64_t length);

}  // namespace nmb
