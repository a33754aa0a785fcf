// Lists the stored pieces of extents (spec/format.md, section 10.1).
#pragma once

#include <cstdint>
#include <vector>

#include "model/stored_piece.h"
#include "reader/file_reader.h"

namespace nmb {

// A stored piece of an extent, or a hole.
struct ExtentPiece {
  std::uint64_t offset = 0, length = 0;  // range in the extent
  PieceCodec codec = PieceCodec::kNone;
  std::uint64_t position = 0, stored_length = 0;  // range in the file; a hole has stored length 0
  std::uint64_t sum = 0;                          // checksum of the stored bytes
  std::uint32_t file = 0;  // 0 for the NMB file; n for row n - 1 of the file table
};

// Returns the coded pieces of a block's extent, in order.
Result<std::vector<ExtentPiece>> coded_pieces(const FileReader& reader, const BlockEntry& entry);
// Returns all pieces of a block's extent, in order.
Result<std::vector<ExtentPiece>> extent_pieces(const FileReader& reader, const BlockEntry& entry);

}  // namespace nmb
