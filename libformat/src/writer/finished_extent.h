// FinishedExtent: the pieces that a commit makes from an extent.
#pragma once

#include <cstddef>
#include <vector>

#include "format/extent/data_map.h"

namespace nmb {

struct FinishedExtent {
  // The pieces. If there are none and `appended` is false, the extent is a hole.
  std::vector<Piece> pieces;
  // True if all committed pieces stay and `pieces` follow them.
  bool appended = false;
  // The values of an inline extent, with padding, if they are already known.
  std::vector<std::byte> inline_values{};
};

}  // namespace nmb
