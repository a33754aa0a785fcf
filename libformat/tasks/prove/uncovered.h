// Finds the elements of an array that lie in no box.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compare/value_pairs.h"

namespace nmb {

// shape: the lengths of the array. The boxes lie in the array, and may overlap.
std::vector<ElementBox> uncovered(std::span<const ElementBox> boxes,
                                  const std::vector<std::uint64_t>& shape);

}  // namespace nmb
