// Pieces of values as they are stored (see extent/piece_codec.h).
#include "extent/piece_codec.h"

#include <zstd.h>

#include "block/body_codec.h"
#include "wire/compressors.h"

namespace nmb {

bool is_piece_length(std::uint64_t stored, std::uint64_t raw) {
  return stored < raw && raw / kMaxExpansion <= stored &&
         (raw / kMaxExpansion < stored || raw % kMaxExpansion == 0);
}

Status decode_piece(PieceCodec codec, std::span<const std::byte> stored, std::span<std::byte> out) {
  std::optional<std::size_t> length;
  std::size_t used = 0;
  if (codec == PieceCodec::kDeflate) {
    length = inflate_zlib(stored, out, &used);
  } else if (codec == PieceCodec::kZstd) {
    used = ZSTD_findFrameCompressedSize(stored.data(), stored.size());
    if (used == stored.size()) length = decode_zstd(stored, out);
  }
  if (length == out.size() && used == stored.size()) return {};
  return Status(Code::kDamaged, {}, kNoOffset, "R-EX-4",
                "found a piece that does not decode to " + std::to_string(out.size()) + " bytes");
}

std::vector<std::byte> encode_piece(PieceCodec codec, int level, std::span<const std::byte> bytes) {
  // Blocks of so many bytes take at least 4: no frame of them is too short (kMaxExpansion).
  constexpr std::size_t kBlock = 4096;
  std::vector<std::byte> out(bytes.size() - (bytes.size() + 15) / 16);
  std::size_t length = codec == PieceCodec::kDeflate ? deflate_zlib(bytes, out, level)
                                                     : encode_zstd(bytes, out, level);
  if (codec == PieceCodec::kZstd && length != 0 && !is_piece_length(length, bytes.size()))
    length = encode_zstd_in_blocks(bytes, out, level, kBlock);
  if (!is_piece_length(length, bytes.size())) length = 0;
  out.resize(length);
  return out;
}

}  // namespace nmb
