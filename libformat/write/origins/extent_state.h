// ExtentState: the state of a block's values while they are being written: where bytes are in the
// file, which of them were written since the last commit, and which pieces the next commit makes
// (spec/format.md, section 10.1).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "extent/data_map.h"
#include "model/values.h"
#include "origins/finished_extent.h"
#include "origins/stage.h"
#include "origins/written.h"
#include "ranks/interval_set.h"
#include "ranks/write_buffer.h"

namespace nmb {

// Interface: receives committed pieces that are no longer used.
class DeadPieces {
 public:
  virtual ~DeadPieces() = default;
  virtual void piece_died(const Piece& piece) = 0;
};

// Writes bytes at a position of the file.
using WriteAt = std::function<Status(std::uint64_t position, std::span<const std::byte> bytes)>;

// A request for space in the file for values. If free space begins at `tail`, rounded up to a
// multiple of 8, the values are placed there; otherwise they are aligned as an extent of this
// length.
struct SpaceRequest {
  std::uint64_t length = 0;
  std::uint64_t tail = 0;  // end of the values that the request continues, or 0
};

// Visits the committed pieces that overlap [from, to), in order, including holes.
using CommittedPieces = std::function<Status(std::uint64_t from, std::uint64_t to,
                                             const std::function<Status(const Piece&)>& visit)>;
// Reads bytes of committed pieces.
using CommittedBytes = std::function<Status(std::uint64_t offset, std::span<std::byte> out)>;
// Fills bytes of the extent that were never written.
using FillBytes = std::function<void(std::uint64_t offset, std::span<std::byte> out)>;

// Bytes that have uncommitted space in the file are written in place. Other bytes wait in a stage
// until the primary of the block has planned their places and take_places() was called. Committed
// pieces are loaded only if they are read or changed, so an extent that only grows does not need
// them. Not thread-safe.
class ExtentState {
 public:
  // read: for get(); may be empty if get() is not called.
  ExtentState(std::uint32_t piece_size, CommittedPieces committed, CommittedBytes read = {})
      : piece_size_(piece_size), committed_(std::move(committed)), read_(std::move(read)) {}

  // Starts with uncommitted space at `position` that was reserved for the bytes [0, length).
  void start_run(std::uint64_t length, std::uint64_t position);
  // Starts with a committed extent of `length` bytes.
  void start_committed(std::uint64_t length);
  // Loads the committed pieces from `offset` on.
  Status load(std::uint64_t offset);

  std::uint64_t length() const { return length_; }
  // Sets a larger length of the extent. The new bytes are unwritten.
  void add_unwritten(std::uint64_t length) { length_ = length; }
  // Changes the length of the extent. Added bytes are unwritten. If the new length is smaller, the
  // bytes after it are lost, and become zero in the file if they are uncommitted. If the new end
  // lies inside a committed piece, the bytes before the end get a new place when places are
  // planned.
  Status resize(std::uint64_t length, WriteBuffer& file, DeadPieces& dead);
  // Writes bytes at `offset` of the extent. `stage` holds the bytes for which the file has no
  // uncommitted space yet.
  Status write(std::uint64_t offset, std::span<const std::byte> bytes, WriteBuffer& file,
               Stage& stage);

  // --- places for waiting bytes ---
  bool needs_places() const {
    return !staged_.empty() || !wanted_.empty() || wants_records_ || has_cut();
  }
  // Requests a place for [from, to), whose values follow later. The place is planned together with
  // the places of waiting bytes.
  void want_place(std::uint64_t from, std::uint64_t to) { wanted_.add(from, to); }
  // Lets the primary learn the new number of records when it places waiting bytes.
  void want_records() { wants_records_ = true; }
  // Returns whether all bytes of [from, to) have uncommitted space.
  bool is_fresh(std::uint64_t from, std::uint64_t to) const;
  // Returns the offset of the first new byte. A byte is new if it was added after the extent was
  // committed or got its first space.
  std::uint64_t first_new() const { return first_new_; }
  // A range that becomes one piece of the file, even if only some of its bytes are written before
  // the commit.
  struct FreshPiece {
    std::uint64_t logical, length, position;
    std::uint64_t end() const { return logical + length; }
  };
  // Returns the piece that contains `offset`. The byte at `offset` must have uncommitted space.
  FreshPiece fresh_piece_at(std::uint64_t offset) const;
  // Returns whether some bytes have uncommitted space.
  bool has_fresh() const;
  // Returns the bytes that wait in the stage.
  std::vector<Interval> staged() const;
  // Returns the bytes that wait in the stage and all other bytes that need places.
  std::vector<Interval> unplaced() const;
  // Plans uncommitted space for three sorts of bytes:
  // - bytes of `asked` (ascending, disjoint intervals) that have no uncommitted space,
  // - a few new bytes between the intervals,
  // - committed pieces that the intervals overlap.
  //
  // The caller must then call take_places() with a position for each request. take_places() also
  // copies the unchanged bytes of these committed pieces.
  Result<std::vector<SpaceRequest>> plan_places(std::span<const Interval> asked);
  Status take_places(std::span<const std::uint64_t> positions, WriteBuffer& file, DeadPieces& dead);
  // A range of the extent, and its place in the file.
  struct Segment {
    std::uint64_t logical = 0;
    std::uint64_t length = 0;  // number of bytes reserved in the file
    std::uint64_t position = 0;
    bool fresh = false;                    // not committed
    std::uint64_t sum = 0;                 // sum of the committed piece
    std::uint64_t cut = 0;                 // number of bytes cut off the end of the committed piece
    PieceCodec codec = PieceCodec::kNone;  // codec of the committed piece
    std::uint64_t coded_length = 0;        // as in Piece
    std::uint32_t file = 0;                // as in Piece
    std::uint64_t end() const { return logical + length; }
    // Returns the committed piece, including the bytes that were cut off.
    Piece piece() const {
      return {logical, length + cut, false, position, sum, codec, coded_length, file};
    }
  };
  // Returns the uncommitted segments that `intervals` touch, for the same extent on another rank.
  std::vector<Segment> places_of(std::span<const Interval> intervals) const;
  Status take_places(const std::vector<Segment>& places);
  // Returns the parts of `places` that replace committed pieces. All their bytes are written by the
  // end of the call that plans them: by the program, or copied from these pieces.
  std::vector<Interval> replaced_in(std::span<const Segment> places) const;
  // A run of waiting bytes.
  struct Staged {
    std::uint64_t offset, length;
    std::uint64_t place;  // offset in the stage
  };
  // Returns the runs of waiting bytes in ascending order, without the bytes in `skip`. Afterwards
  // no bytes wait.
  std::vector<Staged> take_staged(const IntervalSet& skip);
  // Writes a run that take_staged() has returned. The run must have a place in the file.
  Status write_staged(const Staged& run, const WriteAt& write, const Stage& stage);

  // Reads written bytes; unwritten bytes come from `fill`. Does not read waiting bytes.
  Status read(std::uint64_t offset, std::span<std::byte> out, WriteBuffer& file,
              const FillPattern& fill);
  // Reads bytes as the program sees them: waiting bytes, and the bytes in the file that this rank
  // knows of (written() and readable()). `fill` gets all other bytes.
  Status get(std::uint64_t offset, std::span<std::byte> out, WriteBuffer& file, const Stage& stage,
             const FillBytes& fill);
  // Returns the parts of [from, to) that have values. The caller must call load(from) first.
  std::vector<Interval> stored_in(std::uint64_t from, std::uint64_t to) const;

  // The bytes that were written since the last commit, by this rank and by other ranks that have
  // reported their bytes.
  Written& written() { return written_; }
  // The bytes that are in the file and whose primary knows of them. Other ranks may have written
  // them. Used only by get(), on ranks that share the block.
  IntervalSet& readable() { return readable_; }
  // Returns written(), which becomes empty, and adds its bytes to readable(): the caller sends them
  // to the primary.
  Written take_written();
  // Returns the bytes of written() that the last call of this function has not returned.
  std::vector<Interval> newly_written();
  // The number of the last message about written bytes between the primary and another rank. The
  // numbers of a primary ascend; 0: none.
  std::uint64_t exchange = 0;

  // Writes fill values to the unwritten parts of pieces and computes missing sums. Returns the
  // pieces of the whole extent. If `whole` is false and no committed piece has changed, returns
  // only the pieces after the committed pieces.
  Result<FinishedExtent> finish(WriteBuffer& file, const FillPattern& fill, bool whole);
  // Marks the pieces of finish() as committed. Must be called after a commit.
  void committed() { start_committed(length_); }

 private:
  // A planned segment, whose position is not known yet.
  struct Planned {
    std::size_t segment;  // index in segments_
    // The committed piece that the segment replaces, completely or in part. Length 0: none.
    Segment old;
    bool copied;  // true if bytes of the old piece are copied
    bool last;    // true if no later segment replaces a part of the old piece
  };
  std::size_t first_segment_at(std::uint64_t offset) const;
  // Returns the parts of [from, to) that this rank knows not to be written.
  std::vector<Interval> unwritten(std::uint64_t from, std::uint64_t to) const;
  Status clear(const Segment& segment, std::uint64_t from, WriteBuffer& file) const;
  // Reads bytes of a segment. The first byte is at `offset` of the extent.
  Status read_segment(const Segment& segment, std::uint64_t offset, std::span<std::byte> out,
                      WriteBuffer& file) const;
  bool has_cut() const;
  // Returns whether no segment contains a byte of [from, to).
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
  CommittedBytes read_;
  std::uint64_t length_ = 0;
  bool is_committed_ = false;  // true if the extent was committed by the last generation
  std::uint64_t committed_length_ = 0;
  // segments_ has no segments before this offset; all bytes there are committed.
  std::uint64_t loaded_from_ = 0;
  std::vector<Segment> segments_;  // disjoint, sorted by logical offset
  Written written_;                // the written bytes of uncommitted segments
  IntervalSet readable_, exchanged_, replaced_;
  IntervalSet wanted_;
  bool wants_records_ = false;
  std::uint64_t first_new_ = 0;
  // Runs of waiting bytes by their offsets, without overlap.
  struct StagedRun {
    std::uint64_t length, place;
  };
  std::map<std::uint64_t, StagedRun> staged_;
  std::vector<Planned> planned_;
  // The decoded bytes of the committed piece that was read last. They are kept until the last byte
  // of the piece has been read.
  mutable std::vector<std::byte> decoded_;
  mutable std::uint64_t decoded_position_ = 0;
};

// Reads bytes of the buffer or the file, and returns their sum.
Result<std::uint64_t> sum_in_file(WriteBuffer& file, std::uint64_t position, std::uint64_t length);

}  // namespace nmb
