// Encodes and decodes pieces of values. A stored piece is either uncompressed or coded by one of
// the codecs of wire/codecs.h (spec/format.md, sections 8.2 and 10.1).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/stored_piece.h"
#include "wire/failure.h"

namespace nmb {

// Returns whether this version knows the codec with this number.
constexpr bool is_piece_codec(std::uint64_t codec) {
  return std::ranges::any_of(kPieceCodecs, [&](const CodecRow& known) {
    return static_cast<std::uint64_t>(known.codec) == codec;
  });
}
// Returns whether a coded piece may have these stored and raw lengths (R-EX-12).
bool is_piece_length(std::uint64_t stored, std::uint64_t raw);

// Decodes a coded piece. Errors: kDamaged (R-EX-15), without file and offset, if it does not decode
// to exactly as many bytes as `out` has.
Status decode_piece(PieceCodec codec, std::span<const std::byte> stored, std::span<std::byte> out);
// Decodes a coded piece to `length` bytes. Memory is allocated only for decoded bytes, because
// `length` comes from the file and may be wrong.
Result<std::vector<std::byte>> decode_piece(PieceCodec codec, std::span<const std::byte> stored,
                                            std::uint64_t length);

// Returns the encoded form of `bytes`, or no bytes if it saves less than a sixteenth of them. The
// same arguments always give the same result. level: 1 to the highest level of the codec.
std::vector<std::byte> encode_piece(PieceCodec codec, int level, std::span<const std::byte> bytes);

}  // namespace nmb
