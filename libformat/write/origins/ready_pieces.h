// ReadyPieces: values that are given as pieces in their stored form (spec/format.md, section 10.1;
// see origins/extent_origin.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "model/stored_piece.h"
#include "origins/origin_steps.h"

namespace nmb {

class ReadyPieces : public OriginSteps {
 public:
  // Errors: kUsage if the pieces break a rule of take_pieces(). block: the block's name, for the
  // message.
  static Result<ReadyPieces> make(std::vector<StoredPiece> pieces,
                                  std::shared_ptr<const ByteSource> source,
                                  std::uint32_t piece_size, std::string_view block);

  // Returns the space for the pieces. In this space, each piece begins at the first multiple of 8
  // after the previous piece.
  ValueSpace space(std::uint64_t) const { return {move_.length, false, false}; }
  PieceForecast forecast(std::uint64_t, std::uint32_t) const { return forecast_of(pieces_); }
  void place(std::uint64_t position) { move_.position = position; }
  Move* move() { return &move_; }
  Status check(std::string_view block, std::uint64_t extent_length, bool shared) const;
  Result<FinishedExtent> finish(const FinishContext& context);
  Result<Counting> count(const CountContext& context);

 private:
  std::vector<StoredPiece> pieces_;
  std::uint64_t length_ = 0;  // length of the extent
  Move move_;
};

// --- for ready pieces and linked pieces ---

// Checks a piece and adds its length to *length. Before the call, *length is the total length of
// the preceding pieces. Returns the error, or nullptr if there is none.
const char* piece_error(const StoredPiece& piece, std::uint32_t piece_size,
                        const ByteSource& source, std::uint64_t* length);
// Appends the stored bytes of a piece to the move, at a multiple of 8.
void add_window(const StoredPiece& piece, Move* move);
// Checks that the pieces, which have `length` bytes together, are as long as the extent. Also
// checks that the block is not shared by several ranks.
Status check_pieces(std::string_view block, std::uint64_t length, std::uint64_t extent_length,
                    bool shared);
// Adds a hole to the pieces of an extent. If the last piece is a hole, makes this hole longer
// instead.
void add_hole(std::uint64_t logical, std::uint64_t length, std::vector<Piece>* pieces);

// Returns the piece with this index, in its stored form.
using PieceAt = std::function<const StoredPiece&(std::size_t)>;
Result<Counting> count_pieces(std::size_t count, const PieceAt& piece_at, const ByteSource& source,
                              const CountContext& context);

}  // namespace nmb
