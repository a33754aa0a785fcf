// PieceCodec: how the bytes of a stored piece are coded (spec/format.md, section 8.2).
#pragma once

#include <cstdint>

namespace nmb {

enum class PieceCodec : std::uint8_t { kNone = 0, kZstd = 1, kDeflate = 3 };

}  // namespace nmb
