// The codecs of values (kPieceCodecs): texts that list them in messages, and functions that encode
// and decode with them. Pieces identify a codec by its number (spec/format.md, section 8.2), chunks
// by the number of an HDF5 filter (section 15.2).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>

#include "wire/compressors.h"
#include "wire/kinds.h"

namespace nmb {

// Returns the row of `codec` in kPieceCodecs. A number from a file must have been checked before.
constexpr const PieceCodecWord& word_of(PieceCodec codec) {
  return *std::ranges::find(kPieceCodecs, codec, &PieceCodecWord::codec);
}

// Returns the codec that an HDF5 filter uses, or nullptr.
constexpr const PieceCodecWord* codec_of(std::uint32_t filter) {
  const auto* const found = std::ranges::find_if(kPieceCodecs, [&](const PieceCodecWord& word) {
    return word.codec != PieceCodec::kNone && word.hdf5_filter == filter;
  });
  return found == std::end(kPieceCodecs) ? nullptr : found;
}

// Returns whether the HDF5 library needs a plug-in for the codec's filter. The library includes
// only filters with numbers up to 255.
constexpr bool is_plugin(const PieceCodecWord& word) { return word.hdf5_filter > 255; }

// Returns the names of all codecs, for example "none, deflate or zstd".
std::string codec_names();
// Returns the numbers of all codecs in ascending order, for example "0, 1 or 3".
std::string codec_numbers();

// Decodes the bytes at the beginning of `stored` into `out`. Sets *used to the number of bytes that
// were decoded. Fails for kNone.
Decoded decode_bytes(PieceCodec codec, std::span<const std::byte> stored, std::span<std::byte> out,
                     std::size_t* used);
// Encodes `bytes` into `out`. Returns the encoded length, or 0 if `out` is too short or `codec` is
// kNone. level: 1 to the highest level of the codec.
std::size_t encode_bytes(PieceCodec codec, int level, std::span<const std::byte> bytes,
                         std::span<std::byte> out);

}  // namespace nmb
