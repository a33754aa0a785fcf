// Kinds of block bodies, codecs of pieces (spec/format.md, sections 8.1 and 8.2), and numbers of
// objects in a block.
#pragma once

#include <cstdint>
#include <string_view>

#include "nmb/types.h"

namespace nmb {

// The form of a block's body: a classic header (1, 2 or 5), or the extended header (6;
// model/extension.h).
enum class Kind : std::uint8_t { kCdf1 = 1, kCdf2 = 2, kCdf5 = 5, kExtended = 6 };

constexpr bool is_classic(Kind kind) {
  return kind == Kind::kCdf1 || kind == Kind::kCdf2 || kind == Kind::kCdf5;
}

// The codec of a stored piece of values (spec/format.md, section 8.2).
enum class PieceCodec : std::uint8_t { kNone = 0, kZstd = 1, kDeflate = 3 };

// A codec: its name in options, its usual level, its highest level, and the registered number of
// the HDF5 filter that uses the codec. The lowest level is 1. For kNone, the levels and the filter
// are 0.
struct PieceCodecWord {
  PieceCodec codec;
  std::string_view name;
  int usual_level, highest_level;
  std::uint32_t hdf5_filter;
};
inline constexpr PieceCodecWord kPieceCodecs[] = {{PieceCodec::kNone, "none", 0, 0, 0},
                                                  {PieceCodec::kDeflate, "deflate", 6, 9, 1},
                                                  {PieceCodec::kZstd, "zstd", 1, 19, 32015}};

using DimId = std::uint32_t;
using VarId = std::uint32_t;

// Stands for the block itself where a variable's ID is expected. The attributes of the block are
// the global attributes.
inline constexpr VarId kGlobal = ~VarId{0};

// The greatest number of records or samples of a block, and of any sum of them.
inline constexpr std::uint64_t kMostCount = ~std::uint64_t{0} >> 1;  // 2^63 - 1

}  // namespace nmb
