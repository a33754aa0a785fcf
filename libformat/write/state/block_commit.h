// BlockCommit: describes how a commit writes one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "extent/data_map.h"
#include "ranks/writer_options.h"

namespace nmb {

struct BlockCommit {
  BlockId id = 0;
  bool rewritten = false;  // true if the commit writes the header and body again
  bool hole = false;
  // File position of the values if they are contiguous in the file.
  std::uint64_t extent_position = 0;
  // Sum of the values if there is no data map.
  std::uint64_t extent_sum = 0;
  std::uint64_t header_sum = 0;
  Place map;
  std::uint64_t needs = 0;  // the needs of the block's values
  std::vector<Piece> pieces;
  // True if the pieces follow the committed pieces, which do not change.
  bool appended = false;
  // True if a growth page gets the pieces. The index entry and the data map then do not change.
  bool grown = false;
  DataMapEdge edge;  // end of the committed data map; the pieces are added there
  // The pages of the data map, if they lie directly after the block.
  std::vector<std::byte> map_pages;
  std::vector<std::byte> inline_values;  // inline values with padding; empty if not read yet
};

}  // namespace nmb
