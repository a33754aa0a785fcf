// PieceExchange: writes values of collective puts. Each piece of a shared extent is written by one
// rank, which also computes its sum, so that no rank has to read the piece again
// (spec/rationale.md, "Values that ranks put together").
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "files/files.h"
#include "origins/written.h"
#include "parallel/outbox.h"
#include "ranks/aggregation.h"
#include "state/block_state.h"
#include "wire/hash.h"

namespace nmb {

// The part of a piece that one put writes.
struct PiecePart {
  // A group of `count` runs of `length` bytes each. Each run begins `stride` bytes after the begin
  // of the previous run.
  struct Runs {
    std::uint64_t offset;  // offset of the first run in the piece
    std::uint64_t length, stride, count;

    template <class Fields>
    friend void fields(Fields& all, Runs& group) {
      all.small(group.offset, group.length, group.stride, group.count);
    }
  };

  ExtentState::FreshPiece piece;
  Sharing::Handle primary;
  std::size_t put;  // index of the put
  // This part has the bytes [first, first + bytes) of the put's selected values in external form.
  std::uint64_t first, bytes = 0;
  std::vector<Runs> runs{};  // ascending

  // Adds a run after the existing runs.
  void add_run(std::uint64_t offset, std::uint64_t length);
  bool covers_piece() const { return runs[0].length == piece.length; }
};

struct SentPart;

// A rank that has a whole piece in one part writes the piece directly to the file. If a rank has
// only a part of a piece, it sends the part to the rank that writes the piece's stripe. Not
// thread-safe.
class PieceExchange {
 public:
  // For each block, the bytes that this rank has written. The key is the rank of the block's
  // primary and the block's ID on this rank.
  using WrittenFor = std::map<std::pair<int, BlockId>, Written>;

  PieceExchange(Communicator& ranks, OutputFile& file, const Aggregation& how,
                std::uint32_t piece_size, WrittenFor* written)
      : ranks_(ranks),
        file_(file),
        how_{how.value_writers, std::max<std::uint64_t>(how.stripe, piece_size), how.value_writers},
        written_(*written) {}

  // Fills `out` with the bytes of a part, in external form. again: true if the function was called
  // for this part before. Returns whether values are out of the range of their variable.
  using Encode = std::function<bool(const PiecePart& part, std::span<std::byte> out, bool again)>;

  // Takes the parts that this rank writes by put(). waiting: whether this rank has values without
  // places. Returns whether any rank has; the ranks then assign the places and call begin() again.
  // status: this rank's status so far; if a rank has failed, all ranks fail. Collective.
  Result<bool> begin(std::vector<PiecePart> parts, const Encode& encode, const Status& status,
                     bool waiting);
  // Writes the parts of all ranks. Collective. If several ranks write the same byte, the value of
  // the highest rank is written. If several puts of one rank write the same byte, the value of the
  // last put is written. If all ranks have the same parts with the same bytes, found by a digest,
  // no bytes are sent: each piece is written by the rank that writes its stripe. At any time, a
  // rank holds about kRoundBytes of its own bytes in memory, and about kRoundBytes of bytes from
  // other ranks. status: this rank's status since begin(). Returns whether values of any rank are
  // out of range; out_of_range: whether earlier values of this rank are. Errors, the same on all
  // ranks: kIo, kNoSpace.
  Result<bool> put(const Encode& encode, Status status, bool out_of_range);

 private:
  // A piece that this rank assembles from the received parts and then writes.
  struct Assembly;

  // Part of the file that ranks write in the next round. `from` is kNowhere if all parts have been
  // written. alike: whether the digests of all ranks are equal.
  struct Round {
    std::uint64_t from, to;
    Digest digest;
    bool failed, waiting, conflict, out_of_range, alike;
  };

  Result<Round> next_round(std::span<const PiecePart> rest, const Status& status,
                           const Digest& digest = {}, bool waiting = false);
  void add_values(const Encode& encode, DigestStream* digest);
  Result<bool> are_alike(const Encode& encode, const Status& status);
  Status put_in_rounds(Round round, Status status, const Encode& encode, bool alone_direct);
  Status put_alike(const Encode& encode);
  std::span<const std::byte> encoded(const PiecePart& part, const Encode& encode, bool again);
  Status write_piece(const PiecePart& part, std::span<const std::byte> bytes);
  void reserve_messages(std::span<const PiecePart> rest, std::uint64_t to,
                        Outbox<SentPart>* outgoing) const;
  Status write_arrived(const std::vector<Message>& arrived);
  Status take_part(const SentPart& part, Assembly* assembly);
  Status write(const Assembly& assembly, std::uint64_t position);
  Written& written_for(const Sharing::Handle& primary);

  static constexpr std::uint64_t kRoundBytes = 4 << 20;
  // Values up to this many bytes are part of the first digest, which otherwise has only the
  // selections: encoding them takes less time than another message.
  static constexpr std::uint64_t kFewBytes = 64 << 10;
  Communicator& ranks_;
  OutputFile& file_;
  const Aggregation how_;  // has stripes at least as long as a piece
  WrittenFor& written_;
  std::vector<PiecePart> parts_{};  // in the order of their positions
  Round first_{};
  // True if one rank has written a whole piece directly, and another rank also has values in it.
  bool conflict_ = false;
  bool out_of_range_ = false;         // true if a rank has values out of range
  bool counted_ = false;              // true if `encode` was called for all parts
  std::vector<std::byte> encoded_{};  // encoded bytes of one part
};

}  // namespace nmb
