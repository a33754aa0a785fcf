// Compares the definitions of two blocks (compare/compare.h).
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "compare/compare.h"
#include "compare/dataset_content.h"

namespace nmb {

// A variable that both blocks have, with the same type and shape.
using CommonVariable = std::pair<std::size_t, std::size_t>;  // its numbers in both blocks

// Calls differ() for each difference. Returns the variables whose values can be compared. Errors:
// those of DatasetContent.
Result<std::vector<CommonVariable>> compare_definitions(
    DatasetContent& first, DatasetContent& second,
    const std::function<void(DefinitionDifference)>& differ);

}  // namespace nmb
