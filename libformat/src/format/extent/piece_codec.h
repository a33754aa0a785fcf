// Pieces of values as they are stored: as they are, one zstd frame or one zlib stream
// (spec/format.md, sections 8.2 and 10.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/stored_piece.h"
#include "nmb/status.h"

namespace nmb {

// Of a number in a data map.
constexpr bool is_piece_codec(std::uint64_t codec) {
  return codec == 0 || codec == 1 || codec == 3;
}
// Whether a piece of a codec other than 0 may have these lengths (R-EX-4).
bool is_piece_length(std::uint64_t stored, std::uint64_t raw);

// Decodes a piece that is not stored as it is. kDamaged (R-EX-4), without file and offset: it does
// not decode to all of `out`.
Status decode_piece(PieceCodec codec, std::span<const std::byte> stored, std::span<std::byte> out);
// The same of `length` bytes, which a file may have made up: takes memory for what was decoded.
Result<std::vector<std::byte>> decode_piece(PieceCodec codec, std::span<const std::byte> stored,
                                            std::uint64_t length);

// The stored form of `bytes`, if it is shorter by a sixteenth or more; else empty. level: of zstd
// 1 to 19, of deflate 1 to 9. The same bytes whenever it is called.
std::vector<std::byte> encode_piece(PieceCodec codec, int level, std::span<const std::byte> bytes);

}  // namespace nmb
