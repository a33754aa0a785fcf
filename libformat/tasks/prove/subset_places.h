// SubsetPlaces: the indexes of an input that a subset has. They are those of subset_of(), which
// nmcat uses too; values are read from the whole input.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "merge/reporting/merge.h"
#include "netcdf/subset.h"
#include "wire/failure.h"

namespace nmb {

// The part of a block.
struct BlockSubset {
  bool is_outside = false;      // has no values in the limits
  SelectedIndexes variables{};  // without longitudes that change by multiples of 360 degrees
  std::map<std::string, IndexRuns, std::less<>> dimensions{};
};

// The parts of the blocks of an input, by their paths in the input.
using InputSubset = std::map<std::string, BlockSubset, std::less<>>;

// merge: its input_blocks must be set if blocks count as inputs. Errors: those of subset_of() and
// of reading the input.
Result<InputSubset> subset_places(const PackOptions& merge, std::size_t input);

}  // namespace nmb
