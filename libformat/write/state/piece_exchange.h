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
  // for this part before.
  using Encode = std::function<void(const PiecePart& part, std::span<std::byte> out, bool again)>;

  // Writes the parts of all ranks. Collective. If several ranks write the same byte, the value of
  // the highest rank is written. If several puts of one rank write the same byte, the value of the
  // last put is written. At any time, a rank holds about kRoundBytes of its own bytes in memory,
  // and about kRoundBytes of bytes from other ranks. before: this rank's status so far; if a rank
  // has failed, all ranks fail, and none writes. Errors, the same on all ranks: kIo, kNoSpace.
  Status put(std::vector<PiecePart> parts, const Status& before, const Encode& encode);

 private:
  // A piece that this rank assembles from the received parts and then writes.
  struct Assembly;
  struct Round;

  Result<Round> next_round(std::span<const PiecePart> rest, const Status& status,
                           bool conflict) const;
  Status put_in_rounds(std::span<const PiecePart> parts, Status status, const Encode& encode,
                       bool alone_direct, bool* conflict);
  Status write_piece(const PiecePart& part, std::span<const std::byte> bytes);
  void reserve_messages(std::span<const PiecePart> rest, std::uint64_t to,
                        Outbox<SentPart>* outgoing) const;
  Status write_arrived(const std::vector<Message>& arrived, bool* conflict);
  static Status take_part(const SentPart& part, Assembly* assembly, bool* conflict);
  Status write(const Assembly& assembly, std::uint64_t position);
  Written& written_for(const Sharing::Handle& primary);

  static constexpr std::uint64_t kRoundBytes = 4 << 20;
  Communicator& ranks_;
  OutputFile& file_;
  const Aggregation how_;  // has stripes at least as long as a piece
  WrittenFor& written_;
};

}  // namespace nmb
