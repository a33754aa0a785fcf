// Selects variables of a classic dataset, and also the variables to which they refer by the CF and
// UGRID conventions. Makes a dataset that contains only the selected variables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/dataset.h"
#include "wire/failure.h"

namespace nmb {

// The variables of one file of a time series.
struct SeriesVariables {
  VarId main = 0;
  // `main`, the coordinates of the dimensions of all variables in this list, and all variables to
  // which a variable in this list refers (docs/guides/convert.md, "One file for each variable").
  // Ascending.
  std::vector<VarId> all;
};

// Returns the variables of each file of a time series. A variable gets no file of its own if it is
// a coordinate, or if another variable refers to it. There is one exception: a variable with
// records gets a file even if ancillary_variables or formula_terms refers to it. `dataset` must be
// classic. Errors: kDamaged.
NMB_EXPORT Result<std::vector<SeriesVariables>> series_variables(const Dataset& dataset);

// Returns the coordinate of the record dimension. Errors (with a message only): kNotFound if there
// is no such coordinate.
NMB_EXPORT Result<VarId> time_coordinate(const Dataset& dataset);

// Returns the values of a time coordinate as CF defines them (sections 2.5.1 and 8.1): applies
// scale_factor and add_offset. Errors (with a message only): kUnsupported for values that are
// missing (_FillValue, missing_value, or never written), for attributes of these names that are not
// numbers, and for _Unsigned. Other errors: those of Dataset::read().
NMB_EXPORT Result<std::vector<double>> time_values(const Dataset& dataset, VarId time);

// Returns a dataset with some variables, their dimensions, and the global attributes. The values
// keep their positions in the extent, and their chunks. `variables` must be ascending. `dataset`
// must be a classic dataset (is_classic_dataset()).
NMB_EXPORT Result<Dataset> selected_variables(const Dataset& dataset,
                                              std::span<const VarId> variables);

// Returns the text of an attribute. The result is empty if the attribute does not exist or is not
// of type char.
NMB_EXPORT std::string char_attribute(const Metadata& metadata, VarId owner, std::string_view name);

}  // namespace nmb
