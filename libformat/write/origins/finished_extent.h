// FinishedExtent: the pieces that a commit makes from an extent.
#pragma once

#include <cstddef>
#include <vector>

#include "extent/data_map.h"

namespace nmb {

struct FinishedExtent {
  // The pieces. If this list is empty and `appended` is false, the extent is a hole.
  std::vector<Piece> pieces;
  // True if the extent keeps all committed pieces, and `pieces` has only the pieces after them.
  bool appended = false;
  // The values and padding of an inline extent, if these values are already known; otherwise empty.
  std::vector<std::byte> inline_values{};
};

}  // namespace nmb
