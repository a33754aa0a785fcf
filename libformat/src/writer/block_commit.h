// BlockCommit: how a commit writes one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/extent/data_map.h"
#include "nmb/writer.h"

namespace nmb {

struct BlockCommit {
  BlockId id = 0;
  bool rewritten = false;  // header and body are written again
  bool hole = false;
  std::uint64_t extent_position = 0;  // if the values are in one run
  std::uint64_t extent_sum = 0;       // if there is no map
  std::uint64_t header_sum = 0;
  Place map;
  std::uint64_t needs = 0;  // those of the values
  std::vector<Piece> pieces;
  bool appended = false;  // the pieces follow the committed pieces, which stay
  bool grown = false;     // the pieces go to a growth page; entry and map stay as they are
  DataMapEdge edge;       // end of the committed map to which they are added
  std::vector<std::byte> inline_values;  // with padding; empty: not read yet
};

}  // namespace nmb
