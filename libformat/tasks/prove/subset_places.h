// SubsetPlaces: the indexes of an input that a subset has. They are those of subset_of(), which
// nmcat uses too; values are read from the whole input.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compare/dataset_content.h"
#include "merge/reporting/merge.h"
#include "netcdf/subset.h"
#include "wire/failure.h"

namespace nmb {

// The part of a block.
struct BlockSubset {
  bool is_outside = false;         // has no values in the limits
  SelectedIndexes variables{};     // without longitudes that change by multiples of 360 degrees
  std::set<std::string> turned{};  // these longitudes, and their bounds
  std::set<std::string, std::less<>> named_dimensions{};  // all dimensions of the part
  std::map<std::string, IndexRuns, std::less<>> dimensions{};
};

// The parts of the blocks of an input, by their paths in the input.
using InputSubset = std::map<std::string, BlockSubset, std::less<>>;

// Selected indexes of a longitude whose values change by the same degrees.
struct TurnedRun {
  IndexRuns from;
  std::uint64_t first = 0;  // the number of the first of these indexes, in the order of the result
  double degrees = 0;       // a multiple of 360
};

// Returns by how many degrees the values of a variable change that BlockSubset::variables lacks:
// the multiples of 360 with which the longitudes lie in the limits of the subset, and ascend or
// descend. Bounds change as their longitudes. along: the selected indexes of the first dimension.
// The result is empty if the variable is neither a longitude nor the bounds of one. Errors: those
// of DatasetContent and ContentValues.
Result<std::vector<TurnedRun>> turned_runs(DatasetContent& block, std::size_t variable,
                                           const SubsetRules& rules, const IndexRuns& along);

// merge: its input_blocks must be set if blocks count as inputs. Errors: those of subset_of() and
// of reading the input.
Result<InputSubset> subset_places(const PackOptions& merge, std::size_t input);

}  // namespace nmb
