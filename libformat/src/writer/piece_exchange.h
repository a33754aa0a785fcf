// PieceExchange: values that ranks put together, on their way into the file. One rank writes each
// piece of a shared extent and sums it, so that nobody reads it again (spec/rationale.md, "Values
// that ranks put together").
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

// What one put has of one piece.
struct PiecePart {
  // `count` runs of `length` bytes, each `stride` bytes behind the one before.
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

  // Behind what it has.
  void add_run(std::uint64_t offset, std::uint64_t length);
  bool covers_piece() const { return runs[0].length == piece.length; }
};

struct PartHead;

// A piece goes straight into the file where one rank alone has all of it in one part, else by way
// of the rank that its position gives it. Not thread-safe.
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

  // Fills `out` with the bytes of a part, in external form. again: it has done so before.
  using Encode = std::function<void(const PiecePart& part, std::span<std::byte> out, bool again)>;

  // Collective: writes the parts of all ranks. Where several have a byte, that of the highest rank
  // is written, of one rank's that of its last put. A rank holds bytes of about kRoundBytes at a
  // time of its own, and as many that others send it. kIo, kNoSpace, the same on all
  // ranks.
  Status put(std::vector<PiecePart> parts, const Encode& encode);

 private:
  // A piece that this rank writes, of which others tell it in a round.
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
  const Aggregation how_;  // stripes of at least a piece
  const std::uint32_t piece_size_;
  WrittenFor& written_;
};

}  // namespace nmb
