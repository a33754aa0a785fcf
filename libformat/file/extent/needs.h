// Computes the needs of a block (spec/format.md, section 13).
#pragma once

#include <cstdint>

#include "extent/data_map.h"
#include "superblock/features.h"
#include "wire/block_entry.h"

namespace nmb {

// Returns the needs that follow from a block's body.
inline std::uint64_t needs_of_body(const BlockEntry& entry) {
  constexpr std::uint16_t kZstdCodec = 1, kDictionaryCodec = 2, kExtendedKind = 6;
  return (entry.codec == kZstdCodec || entry.codec == kDictionaryCodec ? kNeedZstdBody : 0) |
         (entry.codec == kDictionaryCodec ? kNeedDictionary : 0) |
         (entry.kind == kExtendedKind ? kNeedExtendedBody : 0);
}

// Returns the needs that follow from a piece. is_original: whether the piece's file number belongs
// to an original.
inline std::uint64_t needs_of_piece(const Piece& piece, bool is_original) {
  return (piece.codec != PieceCodec::kNone ? kNeedPieceCodec : 0) | (piece.file == 0 ? 0
                                                                     : is_original ? kNeedOriginals
                                                                                   : kNeedExternal);
}

}  // namespace nmb
