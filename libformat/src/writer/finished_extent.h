// FinishedExtent: the pieces that a commit makes from an extent.
#pragma once

#include <cstddef>
#include <vector>

#include "format/extent/data_map.h"

namespace nmb {

struct FinishedExtent {
  std::vector<Piece> pieces;  // if empty and not `appended`, the extent is a hole
  bool appended = false;      // all committed pieces stay, and `pieces` follow them
  // The values of an inline extent, with padding, if they are already known.
  std::vector<std::byte> inline_values{};
};

}  // namespace nmb
