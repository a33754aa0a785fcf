// PieceExchange: writes values that ranks put together. One rank writes each piece of a shared
// extent and computes its sum, so that no rank must read it again (spec/rationale.md, "Values that
// ranks put together").
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "nmb/communicator.h"
#include "nmb/files.h"
#include "parallel/letters.h"
#include "writer/aggregation.h"
#include "writer/block_state.h"
#include "writer/written.h"

namespace nmb {

// The part of one piece that one put has.
struct PiecePart {
  // `count` runs of `length` bytes, whose begins are `stride` bytes apart.
  struct Runs {
    std::uint64_t offset;  // in the piece
    std::uint64_t length, stride, count;
  };

  ExtentState::FreshPiece piece;
  Sharing::Handle keeper;  // of the block
  std::size_t put;         // number of the put
  // Bytes of the selection in external form, from `first` on.
  std::uint64_t first, bytes = 0;
  std::vector<Runs> runs{};  // ascending

  // Adds a run after those that the part has.
  void add_run(std::uint64_t offset, std::uint64_t length);
  bool covers_piece() const { return runs[0].length == piece.length; }
};

struct PartHead;

// If one rank has all of a piece in one part, it writes it directly to the file; other pieces are
// sent to the rank to which their position belongs. Not thread-safe.
class PieceExchange {
 public:
  // What this rank has written, for the keeper of each block.
  using WrittenFor = std::map<std::pair<int, BlockId>, Written>;

  PieceExchange(Communicator& ranks, OutputFile& file, const Aggregation& how,
                std::uint32_t piece_size, WrittenFor* written)
      : ranks_(ranks),
        file_(file),
        how_{how.value_writers, std::max<std::uint64_t>(how.stripe, piece_size), how.value_writers},
        piece_size_(piece_size),
        written_(*written) {}

  // Fills `out` with the bytes of a part, in external form. again: it was called for this part
  // before.
  using Encode = std::function<void(const PiecePart& part, std::span<std::byte> out, bool again)>;

  // Collective: writes the parts of all ranks. If several ranks have a byte, that of the highest
  // rank is written; if several puts of a rank have it, that of the last put. A rank holds about
  // kRoundBytes of its own bytes at a time, and as many from other ranks. Errors: kIo, kNoSpace,
  // the same on all ranks.
  Status put(std::vector<PiecePart> parts, const Encode& encode);

 private:
  // A piece that this rank writes and for which others send parts in a round.
  struct Assembly;
  struct Round;

  Result<Round> next_round(std::span<const PiecePart> rest, const Status& status,
                           bool conflict) const;
  Status put_in_rounds(std::span<const PiecePart> parts, const Encode& encode, bool alone_direct,
                       bool* conflict);
  Status write_piece(const PiecePart& part, std::span<const std::byte> bytes);
  void reserve_letters(std::span<const PiecePart> rest, std::uint64_t to, Letters* letters) const;
  Status write_arrived(const std::vector<Message>& arrived, bool* conflict);
  static void take_part(const PartHead& head, MessageReader& in, Assembly* assembly,
                        bool* conflict);
  Status write(const Assembly& assembly, std::uint64_t position);
  Written& written_for(const Sharing::Handle& keeper);

  static constexpr std::uint64_t kRoundBytes = 4 << 20;
  Communicator& ranks_;
  OutputFile& file_;
  const Aggregation how_;  // stripes have the size of a piece at least
  const std::uint32_t piece_size_;
  WrittenFor& written_;
};

}  // namespace nmb
