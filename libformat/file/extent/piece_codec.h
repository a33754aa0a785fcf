// Encodes and decodes pieces of values. A stored piece is either uncompressed or coded by one of
// the codecs of values/codecs.h (spec/format.md, sections 8.2 and 10.1).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/stored_piece.h"
#include "wire/failure.h"

namespace nmb {

// Returns whether this version knows the codec with the number `codec`.
constexpr bool is_piece_codec(std::uint64_t codec) {
  return std::ranges::any_of(kPieceCodecs, [&](const PieceCodecWord& known) {
    return static_cast<std::uint64_t>(known.codec) == codec;
  });
}
// Returns whether a coded piece may have the stored length `stored` and the raw length `raw`
// (R-EX-12).
bool is_piece_length(std::uint64_t stored, std::uint64_t raw);

// Decodes a coded piece. Errors: kDamaged (R-EX-15), without file and offset, if the piece does not
// decode to exactly as many bytes as `out` has.
Status decode_piece(PieceCodec codec, std::span<const std::byte> stored, std::span<std::byte> out);
// Decodes a coded piece to `length` bytes. Allocates memory only for bytes that were decoded,
// because `length` comes from the file and may be wrong.
Result<std::vector<std::byte>> decode_piece(PieceCodec codec, std::span<const std::byte> stored,
                                            std::uint64_t length);

// Encodes `bytes`. If the encoding saves at least a sixteenth of the bytes, returns the encoded
// form; otherwise returns no bytes. level: 1 to the highest level of the codec. The same arguments
// always give the same result.
std::vector<std::byte> encode_piece(PieceCodec codec, int level, std::span<const std::byte> bytes);

}  // namespace nmb
