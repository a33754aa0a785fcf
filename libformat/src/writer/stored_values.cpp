// Values that come as they are to be stored (spec/format.md, section 10.1).
#include "wire/checked.h"
#include "writer/block_state.h"

namespace nmb {

std::uint64_t StoredValues::stored_length() const {
  std::uint64_t all = 0;
  for (const StoredPiece& piece : pieces)
    if (piece.stored_length != 0) all = round_up(all, 8) + piece.stored_length;
  return all;
}

Move StoredValues::move() const {
  Move out;
  out.source = source;
  for (const StoredPiece& piece : pieces) {
    if (piece.stored_length == 0) continue;
    const std::uint64_t at = round_up(out.length, 8);
    out.runs.push_back({piece.source_offset, 0, at, 0, piece.stored_length, 1});
    out.length = at + piece.stored_length;
    out.ends.push_back(out.length);
  }
  return out;
}

std::vector<Piece> StoredValues::pieces_at(std::uint64_t position,
                                           const std::vector<std::uint64_t>& sums) const {
  std::vector<Piece> out;
  std::uint64_t at = 0;
  auto sum = sums.begin();
  for (const StoredPiece& piece : pieces) {
    if (piece.stored_length != 0) {
      const bool coded = piece.codec != PieceCodec::kNone;
      out.push_back({at, piece.length, false, position, *sum++, piece.codec,
                     coded ? piece.stored_length : 0});
      position = round_up(position + piece.stored_length, 8);
    } else if (!out.empty() && out.back().hole) {
      out.back().length += piece.length;
    } else {
      out.push_back({at, piece.length, true, 0, 0});
    }
    at += piece.length;
  }
  return out;
}

}  // namespace nmb
