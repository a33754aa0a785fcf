// Checks whether boxes cover an array, and finds boxes that overlap.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sources/tiled_values.h"

namespace nmb {

// First index and length along each dimension.
using TileRegion = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

struct TileCover {
  std::vector<TileRegion> gaps;            // regions that no box covers
  std::vector<std::uint32_t> overlapping;  // boxes that overlap an earlier box
};

// Returns gaps and overlaps. present: the distinct boxes that are checked. Errors: kLimit if the
// edges of the boxes divide the array into more than 2^22 cells.
Result<TileCover> cover_of(const TileBoxes& boxes, std::span<const std::uint32_t> present);

}  // namespace nmb
