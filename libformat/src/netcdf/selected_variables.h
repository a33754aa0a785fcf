// SelectedVariables: some variables of a classic dataset with all that they refer to by the CF
// conventions, and the dataset of these.
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
  // `main`, the coordinates of its dimensions, and the variables that the attributes bounds,
  // climatology, coordinates, cell_measures, grid_mapping, ancillary_variables and formula_terms
  // name, of these variables too. Ascending.
  std::vector<VarId> all;
};

// Returns what each file of a time series has. Coordinates, and variables that bounds, climatology,
// coordinates, cell_measures or grid_mapping name, get no file of their own; neither do variables
// without records that one of the attributes names. `dataset` must be classic. Errors: kDamaged.
NMB_EXPORT Result<std::vector<SeriesVariables>> series_variables(const Dataset& dataset);

// Returns the coordinate of the record dimension, or of dimension `along`. Errors: kNotFound (with
// a message only): there is none.
NMB_EXPORT Result<VarId> time_coordinate(const Dataset& dataset);

// Returns a dataset with some variables, their dimensions, and the global attributes. The values
// stay where they are in the extent. `variables`: ascending. `dataset` must be classic.
NMB_EXPORT Result<Dataset> selected_variables(const Dataset& dataset,
                                              std::span<const VarId> variables);

// Returns the text of an attribute of type char; "": it has another type, or does not exist.
NMB_EXPORT std::string char_attribute(const Metadata& metadata, VarId owner, std::string_view name);

}  // namespace nmb
