// The codecs of values: a table of their properties, and functions that encode and decode. Pieces
// identify a codec by its number (spec/format.md, section 8.2), chunks by the number of an HDF5
// filter (section 15.2).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct ZSTD_DDict_s;

namespace nmb {

// The codec of a stored piece of values.
enum class PieceCodec : std::uint8_t { kNone = 0, kZstd = 1, kDeflate = 3 };

// The result of a decoder. length: number of bytes that the decoder wrote; not set if decoding
// failed. Decoding fails if `out` is too small (wants_room is then true) or the input is damaged.
struct Decoded {
  std::optional<std::size_t> length;
  bool wants_room = false;
};

// Decodes the stream at the beginning of `stored` into `out`. Sets *used to the number of bytes
// that were decoded. If the stream states a length that exceeds `out`, wants_room is set, unless so
// few bytes cannot have this length.
using DecodeBytes = Decoded(std::span<const std::byte> stored, std::span<std::byte> out,
                            std::size_t* used);
// Encodes `bytes` into `out`, which may be shorter than `bytes`. Returns the encoded length, or 0
// if it does not fit. The same arguments always give the same bytes. level: 1 to the highest level
// of the codec; a codec without levels ignores it.
using EncodeBytes = std::size_t(std::span<const std::byte> bytes, std::span<std::byte> out,
                                int level);
// Returns whether the format allows these bytes as a piece of `length` decoded bytes.
using AllowsPiece = bool(std::span<const std::byte> stored, std::uint64_t length);

// Each thread keeps its own contexts of a compression library.
DecodeBytes decode_deflate, decode_zstd;
EncodeBytes encode_deflate, encode_zstd;
AllowsPiece allows_zstd_piece;

// A codec: its name in options, its usual level, its highest level, the registered number of the
// HDF5 filter that uses the codec, and its functions. The lowest level is 1. A codec without levels
// has 0 as its usual and highest level. allows_piece: nullptr if any stream may be a piece.
struct CodecRow {
  PieceCodec codec;
  std::string_view name;
  int usual_level, highest_level;
  std::uint32_t hdf5_filter = 0;
  DecodeBytes* decode = nullptr;
  EncodeBytes* encode = nullptr;
  AllowsPiece* allows_piece = nullptr;
};
// kNone, then the others sorted by name.
inline constexpr CodecRow kPieceCodecs[] = {
    {PieceCodec::kNone, "none", 0, 0},
    {PieceCodec::kDeflate, "deflate", 6, 9, 1, decode_deflate, encode_deflate},
    {PieceCodec::kZstd, "zstd", 1, 19, 32015, decode_zstd, encode_zstd, allows_zstd_piece},
};
static_assert(std::ranges::all_of(kPieceCodecs,
                                  [](const CodecRow& row) {
                                    return (row.hdf5_filter == 0) ==
                                           (row.codec == PieceCodec::kNone);
                                  }),
              "each codec needs an HDF5 filter; without it, chunks would stay uncompressed");

// Returns the row of `codec` in kPieceCodecs. A number from a file must have been checked before.
constexpr const CodecRow& codec_row(PieceCodec codec) {
  return *std::ranges::find(kPieceCodecs, codec, &CodecRow::codec);
}

// Returns the codec that an HDF5 filter uses, or nullptr.
constexpr const CodecRow* codec_of(std::uint32_t filter) {
  const auto* const found = std::ranges::find_if(kPieceCodecs, [&](const CodecRow& row) {
    return row.codec != PieceCodec::kNone && row.hdf5_filter == filter;
  });
  return found == std::end(kPieceCodecs) ? nullptr : found;
}

// Returns whether the HDF5 library needs a plug-in for the codec's filter. The library includes
// only filters with numbers up to 255.
constexpr bool is_plugin(const CodecRow& row) { return row.hdf5_filter > 255; }

// Returns the names of all codecs, for example "none, deflate or zstd".
std::string codec_names();
// Returns the numbers of all codecs in ascending order, for example "0, 1 or 3".
std::string codec_numbers();

// Decodes as DecodeBytes says. Fails for kNone.
Decoded decode_bytes(PieceCodec codec, std::span<const std::byte> stored, std::span<std::byte> out,
                     std::size_t* used);
// Encodes as EncodeBytes says. Returns 0 for kNone.
std::size_t encode_bytes(PieceCodec codec, int level, std::span<const std::byte> bytes,
                         std::span<std::byte> out);

// Calls decode(out) with larger and larger buffers of up to `limit` bytes, because a damaged file
// may state any length and memory should grow only as bytes are decoded. Returns nullopt if the
// input is damaged or decodes to more than `limit` bytes.
template <class Decode>
std::optional<std::vector<std::byte>> decode_growing(std::size_t stored, std::uint64_t limit,
                                                     Decode decode) {
  constexpr std::uint64_t kAtOnce = 1 << 20, kUsualTimes = 16, kMore = 4;
  std::vector<std::byte> out;
  for (std::uint64_t room = std::min(limit, std::max(kAtOnce, stored * kUsualTimes));;
       room = room > limit / kMore ? limit : room * kMore) {
    out = std::vector<std::byte>(room);
    const Decoded decoded = decode(std::span(out));
    if (decoded.length) {
      out.resize(*decoded.length);
      return out;
    }
    if (!decoded.wants_room || room == limit) return std::nullopt;
  }
}

// --- zstd with a dictionary, for bodies ---

// Decodes all of `stored`, which has one or several frames. dictionary: the dictionary of the
// frames, or nullptr.
Decoded decode_frames(std::span<const std::byte> stored, std::span<std::byte> out,
                      const ZSTD_DDict_s* dictionary);
// Returns whether `stored` is exactly one zstd frame, and the format allows this frame
// (spec/format.md, section 8.2): its window has at most 2^27 bytes, it states no dictionary ID or
// `dictionary_id`, and if it states its decoded length, this is `length`.
bool is_allowed_frame(std::span<const std::byte> stored, std::uint64_t length,
                      std::uint32_t dictionary_id);

}  // namespace nmb
