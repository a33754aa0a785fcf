// The indexes of each dimension that a subset of a dataset has (netcdf/subset.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "netcdf/subset.h"

namespace nmb {

struct SubsetIndexes {
  // For each dimension: the selected indexes, or nullopt for all indexes.
  std::vector<std::optional<IndexRuns>> runs;
  // Longitudes and their bounds whose values change, and the degrees to add at each index.
  std::map<VarId, std::vector<double>> turned{};
  // Whether a scalar coordinate of the subset is outside of a limit.
  bool is_outside = false;
};

// Applies all rules except SubsetRules::variables. is_chosen: for each variable, whether the subset
// has it. Sets used for each rule that has an effect, see DatasetSubset::used. Errors: as
// subset_of().
Result<SubsetIndexes> subset_indexes(const Dataset& dataset, const SubsetRules& rules,
                                     const SubsetGroup& group, const std::vector<bool>& is_chosen,
                                     std::vector<std::uint8_t>* used);

// Returns the length of a dimension, also of the record dimension.
inline std::uint64_t length_of(const Dataset& dataset, DimId d) {
  const Dimension dimension = dataset.metadata.dimension(d);
  return dimension.is_record() ? dataset.records : dimension.length;
}

// Returns whether a variable is a coordinate variable: it has the name of its only dimension.
inline bool is_coordinate(const Metadata& metadata, VarId v) {
  const Variable variable = metadata.variable(v);
  return variable.dimensions.size() == 1 &&
         metadata.dimension(variable.dimensions[0]).name == variable.name;
}

// Return a dimension and a variable for messages, for example: dimension "time".
std::string dimension_text(const Metadata& metadata, DimId d);
std::string variable_text(const Metadata& metadata, VarId v);

}  // namespace nmb
