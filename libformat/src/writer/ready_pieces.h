// ReadyPieces: values that come as they are to be stored, in pieces (see writer/extent_origin.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "model/stored_piece.h"
#include "writer/origin_steps.h"

namespace nmb {

class ReadyPieces : public OriginSteps {
 public:
  // kUsage: the rules of take_pieces(). block: for what that says.
  static Result<ReadyPieces> make(std::vector<StoredPiece> pieces,
                                  std::shared_ptr<const ByteSource> source,
                                  std::uint32_t piece_size, std::string_view block);

  // The pieces one behind the other, each at a multiple of 8.
  ValueSpace space(std::uint64_t) const { return {move_.length, false, false}; }
  void place(std::uint64_t position) { move_.position = position; }
  Move* move() { return &move_; }
  Status check(std::string_view block, std::uint64_t extent_length, bool shared) const;
  Result<FinishedExtent> finish(const FinishContext& context);
  Result<Counting> count(const CountContext& context);

 private:
  std::vector<StoredPiece> pieces_;
  std::uint64_t length_ = 0;  // of the extent that they make up
  Move move_;
};

// --- what pieces that were given have in common, ready or linked ---

// A piece behind `length` bytes of others: what is wrong with it, or nullptr. Adds its length.
const char* piece_error(const StoredPiece& piece, std::uint32_t piece_size,
                        const ByteSource& source, std::uint64_t* length);
// The stored bytes of a piece, behind what is moved already, at a multiple of 8.
void add_window(const StoredPiece& piece, Move* move);
// Pieces of `length` bytes make up the extent, and are all that anybody says of it.
Status check_pieces(std::string_view block, std::uint64_t length, std::uint64_t extent_length,
                    bool shared);
// Adds a hole to pieces of an extent, to the one before it if that is one.
void add_hole(std::uint64_t logical, std::uint64_t length, std::vector<Piece>* pieces);

// Pieces as they are stored, here or elsewhere.
using PieceAt = std::function<const StoredPiece&(std::size_t)>;
Result<Counting> count_pieces(std::size_t count, const PieceAt& piece_at, const ByteSource& source,
                              const CountContext& context);

}  // namespace nmb
