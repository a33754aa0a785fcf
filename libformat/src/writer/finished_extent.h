// FinishedExtent: what a commit makes of an extent.
#pragma once

#include <cstddef>
#include <vector>

#include "format/extent/data_map.h"

namespace nmb {

struct FinishedExtent {
  std::vector<Piece> pieces;  // none, and not appended: the extent is a hole
  bool appended = false;      // all that was committed stays, and the pieces are those behind it
  // Of an inline extent, with padding, where they are known already.
  std::vector<std::byte> inline_values{};
};

}  // namespace nmb
