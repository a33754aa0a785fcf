// Stored pieces of values: uncompressed, one zstd frame or one zlib stream (spec/format.md,
// sections 8.2 and 10.1).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/stored_piece.h"
#include "nmb/status.h"

namespace nmb {

// codec: a number in a data map.
constexpr bool is_piece_codec(std::uint64_t codec) {
  return std::ranges::any_of(kPieceCodecs, [&](const PieceCodecWord& known) {
    return static_cast<std::uint64_t>(known.codec) == codec;
  });
}
// Returns whether a piece with a codec other than 0 may have these lengths (R-EX-4).
bool is_piece_length(std::uint64_t stored, std::uint64_t raw);

// Decodes a piece with a codec. Errors: kDamaged (R-EX-4), without file and offset: it does not
// decode to all of `out`.
Status decode_piece(PieceCodec codec, std::span<const std::byte> stored, std::span<std::byte> out);
// Does the same for `length` bytes, a number from the file that may be wrong: allocates memory for
// decoded bytes only.
Result<std::vector<std::byte>> decode_piece(PieceCodec codec, std::span<const std::byte> stored,
                                            std::uint64_t length);

// Returns the stored form of `bytes` if it is shorter by a sixteenth or more, otherwise no bytes.
// level: 1 to 19 for zstd, 1 to 9 for deflate. The result is always the same.
std::vector<std::byte> encode_piece(PieceCodec codec, int level, std::span<const std::byte> bytes);

}  // namespace nmb
