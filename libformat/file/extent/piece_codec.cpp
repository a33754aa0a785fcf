#include "extent/piece_codec.h"

#include "block/body_codec.h"
#include "wire/codecs.h"
#include "wire/joined_text.h"

namespace nmb {

bool is_piece_length(std::uint64_t stored, std::uint64_t raw) {
  return stored < raw && raw / kMaxExpansion <= stored &&
         (raw / kMaxExpansion < stored || raw % kMaxExpansion == 0);
}

namespace {

Status does_not_decode(std::uint64_t length) {
  return Status(Code::kDamaged, {}, kNoOffset, "R-EX-15",
                joined_text("found a piece that does not decode to ", length, " bytes"));
}

// Decodes `stored` into `out`. length: expected decoded length.
Decoded decode_into(PieceCodec codec, std::span<const std::byte> stored, std::uint64_t length,
                    std::span<std::byte> out) {
  const CodecRow& row = codec_row(codec);
  if (row.allows_piece && !row.allows_piece(stored, length)) return {};
  std::size_t used = 0;
  const Decoded decoded = decode_bytes(codec, stored, out, &used);
  return decoded.length && used != stored.size() ? Decoded{} : decoded;
}

}  // namespace

Status decode_piece(PieceCodec codec, std::span<const std::byte> stored, std::span<std::byte> out) {
  return decode_into(codec, stored, out.size(), out).length == out.size()
             ? Status()
             : does_not_decode(out.size());
}

Result<std::vector<std::byte>> decode_piece(PieceCodec codec, std::span<const std::byte> stored,
                                            std::uint64_t length) {
  auto decoded = decode_growing(stored.size(), length, [&](std::span<std::byte> out) {
    return decode_into(codec, stored, length, out);
  });
  if (!decoded || decoded->size() != length) return does_not_decode(length);
  return std::move(*decoded);
}

std::vector<std::byte> encode_piece(PieceCodec codec, int level, std::span<const std::byte> bytes) {
  std::vector<std::byte> out(bytes.size() - (bytes.size() + 15) / 16);
  std::size_t length = encode_bytes(codec, level, bytes, out);
  if (!is_piece_length(length, bytes.size())) length = 0;
  out.resize(length);
  return out;
}

}  // namespace nmb
