// Selects variables of a classic dataset, and also the variables to which they refer by the CF
// conventions. Makes a dataset that contains only the selected variables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nmb/dataset.h"
#include "nmb/status.h"

namespace nmb {

// The variables of one file of a time series.
struct SeriesVariables {
  VarId main = 0;
  // `main`, the coordinates of its dimensions, and all variables to which a variable in this list
  // refers. The attributes that refer to variables are bounds, climatology, coordinates,
  // cell_measures, grid_mapping, ancillary_variables and formula_terms. Ascending.
  std::vector<VarId> all;
};

// Returns the variables of each file of a time series. Coordinates get no file of their own. A
// variable also gets no file of its own if an attribute bounds, climatology, coordinates,
// cell_measures or grid_mapping refers to it. The same is true of a variable without records if
// ancillary_variables or formula_terms refers to it. `dataset` must be classic. Errors: kDamaged.
NMB_EXPORT Result<std::vector<SeriesVariables>> series_variables(const Dataset& dataset);

// Returns the coordinate of the record dimension. Errors (with a message only): kNotFound if there
// is no such coordinate.
NMB_EXPORT Result<VarId> time_coordinate(const Dataset& dataset);

// Returns a dataset with some variables, their dimensions, and the global attributes. The values
// keep their positions in the extent. `variables` must be ascending. `dataset` must be classic.
NMB_EXPORT Result<Dataset> selected_variables(const Dataset& dataset,
                                              std::span<const VarId> variables);

// Returns the text of an attribute. The result is empty if the attribute does not exist or is not
// of type char.
NMB_EXPORT std::string char_attribute(const Metadata& metadata, VarId owner, std::string_view name);

}  // namespace nmb
