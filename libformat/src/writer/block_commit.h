// BlockCommit: what a commit makes of one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/extent/data_map.h"
#include "nmb/writer.h"

namespace nmb {

struct BlockCommit {
  BlockId id = 0;
  bool rewritten = false;  // header and body are written anew
  bool hole = false;
  std::uint64_t extent_position = 0;  // of values in one run
  std::uint64_t extent_sum = 0;       // without a map
  std::uint64_t header_sum = 0;
  Place map;
  std::uint64_t needs = 0;  // of the values
  std::vector<Piece> pieces;
  bool appended = false;  // the pieces are those behind the committed ones, which stay
  bool grown = false;     // and go to a growth page: entry and map stay as they are
  DataMapEdge edge;       // of the committed map that they are added to
  std::vector<std::byte> inline_values;  // with padding; read ahead, or not yet
};

}  // namespace nmb
