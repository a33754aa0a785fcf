#include "origins/ready_pieces.h"

#include <algorithm>
#include <atomic>

#include "extent/piece_codec.h"
#include "model/name_rules.h"
#include "parallel/workers.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

const char* piece_error(const StoredPiece& piece, std::uint32_t piece_size,
                        const ByteSource& source, std::uint64_t* length) {
  const std::uint64_t window = piece_size - *length % piece_size, size = source.size();
  const bool hole = piece.stored_length == 0, coded = piece.codec != PieceCodec::kNone;
  if (piece.length == 0 || (!hole && piece.length > (coded ? piece_size : window)) ||
      !checked_add(*length, piece.length, length) || *length >> 62)
    return "a piece of invalid length (0, more than the piece size, or uncoded across a multiple "
           "of the piece size)";
  if (coded ? hole || !is_piece_length(piece.stored_length, piece.length)
            : !hole && piece.stored_length != piece.length)
    return "a piece with a stored length that its codec and length do not allow";
  if (!hole && (piece.source_offset > size || piece.stored_length > size - piece.source_offset))
    return "a piece outside its source";
  return nullptr;
}

void add_window(const StoredPiece& piece, Move* move) {
  const std::uint64_t at = round_up(move->length, 8);
  move->runs.push_back({piece.source_offset, 0, at, 0, piece.stored_length, 1});
  move->length = at + piece.stored_length;
  move->ends.push_back(move->length);
}

Status check_pieces(std::string_view block, std::uint64_t length, std::uint64_t extent_length,
                    bool shared) {
  if (shared)
    return Status(Code::kUsage, "found pieces of values for block " + in_quotes(block) +
                                    ", which several ranks share; use put()");
  if (length != extent_length)
    return Status(Code::kUsage, joined_text("found pieces of ", length, " bytes in all for block ",
                                            in_quotes(block), ", expected ", extent_length));
  return {};
}

void add_hole(std::uint64_t logical, std::uint64_t length, std::vector<Piece>* pieces) {
  if (!pieces->empty() && pieces->back().hole)
    pieces->back().length += length;
  else
    pieces->push_back({logical, length, true, 0, 0});
}

Result<Counting> count_pieces(std::size_t count, const PieceAt& piece_at, const ByteSource& source,
                              const CountContext& context) {
  NMB_ASSIGN(std::unique_ptr<ExtentCounter> counter, context.make_counter());
  std::vector<std::uint64_t> begins;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < count; ++i) {
    begins.push_back(end);
    end += piece_at(i).length;
  }
  std::atomic<std::size_t> next{0};
  NMB_TRY(share_work(std::min<std::size_t>(context.threads, count),
                     [&](const std::atomic<bool>& stop) -> Status {
                       std::vector<std::byte> bytes, values;
                       for (std::size_t i; !stop && (i = next++) < count;) {
                         const StoredPiece& piece = piece_at(i);
                         if (piece.stored_length == 0) {
                           counter->add_hole(begins[i], begins[i] + piece.length);
                           continue;
                         }
                         bytes.resize(piece.stored_length);
                         NMB_TRY(source.read_at(piece.source_offset, bytes));
                         if (piece.codec == PieceCodec::kNone) {
                           counter->add(begins[i], bytes);
                           continue;
                         }
                         values.resize(piece.length);
                         NMB_TRY(decode_piece(piece.codec, bytes, values));
                         counter->add(begins[i], values);
                       }
                       return {};
                     }));
  return Counting{std::move(counter), {}};
}

Result<ReadyPieces> ReadyPieces::make(std::vector<StoredPiece> pieces,
                                      std::shared_ptr<const ByteSource> source,
                                      std::uint32_t piece_size, std::string_view block) {
  const auto wrong = [&](const char* found) {
    return Status(Code::kUsage, joined_text("found ", found, " for block ", in_quotes(block)));
  };
  ReadyPieces out;
  for (const StoredPiece& piece : pieces) {
    if (const char* error = piece_error(piece, piece_size, *source, &out.length_))
      return wrong(error);
    if (piece.stored_length != 0) add_window(piece, &out.move_);
  }
  if (out.move_.length == 0) return wrong("only holes and no stored piece");
  out.move_.source = std::move(source);
  out.pieces_ = std::move(pieces);
  return out;
}

Status ReadyPieces::check(std::string_view block, std::uint64_t extent_length, bool shared) const {
  return check_pieces(block, length_, extent_length, shared);
}

Result<FinishedExtent> ReadyPieces::finish(const FinishContext& context) {
  FinishedExtent out;
  std::uint64_t at = 0, position = context.run_position;
  auto sum = move_.sums.begin();
  for (const StoredPiece& piece : pieces_) {
    if (piece.stored_length != 0) {
      const bool coded = piece.codec != PieceCodec::kNone;
      out.pieces.push_back({at, piece.length, false, position, *sum++, piece.codec,
                            coded ? piece.stored_length : 0});
      position = round_up(position + piece.stored_length, 8);
    } else {
      add_hole(at, piece.length, &out.pieces);
    }
    at += piece.length;
  }
  return out;
}

Result<Counting> ReadyPieces::count(const CountContext& context) {
  return count_pieces(
      pieces_.size(), [&](std::size_t i) -> const StoredPiece& { return pieces_[i]; },
      *move_.source, context);
}

}  // namespace nmb
