// StoredPiece: a part of an extent as it is stored (spec/format.md, section 10.1).
#pragma once

#include <cstdint>

#include "wire/codecs.h"

namespace nmb {

struct StoredPiece {
  std::uint64_t length = 0;  // length of the values in bytes
  PieceCodec codec = PieceCodec::kNone;
  std::uint64_t stored_length = 0;  // 0: a hole
  std::uint64_t source_offset = 0;  // offset of the stored bytes in their source
};

}  // namespace nmb
