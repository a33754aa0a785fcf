// Makes a dataset of selected variables of a classic dataset, with the variables to which they
// refer by the CF and UGRID conventions.
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

// Returns the variables of each file of a time series. Each variable has a file of its own, except
// coordinates and variables to which another variable refers. But a variable with records has a
// file even if ancillary_variables or formula_terms refers to it. `dataset` must be classic.
// Errors: kDamaged.
NMB_EXPORT Result<std::vector<SeriesVariables>> series_variables(const Dataset& dataset);

// Returns for each variable the variables that it needs: the coordinates of its dimensions, and all
// variables that its attributes name (CF and UGRID conventions). The lists are not transitive.
std::vector<std::vector<VarId>> needed_variables(const Metadata& metadata);

// Returns the coordinate of the record dimension. Errors (with a message only): kNotFound if there
// is none.
NMB_EXPORT Result<VarId> time_coordinate(const Dataset& dataset);

// Returns the values of a time coordinate with scale_factor and add_offset applied (CF, sections
// 2.5.1 and 8.1). Errors (with a message only): kUnsupported for _Unsigned, for values that are
// missing (_FillValue, missing_value, or never written), and if one of these attributes is not a
// number. Other errors: those of Dataset::read().
NMB_EXPORT Result<std::vector<double>> time_values(const Dataset& dataset, VarId time);

// Returns a dataset with these variables (in ascending order), their dimensions, and the global
// attributes. The values keep their positions in the extent, and their chunks. is_classic_dataset()
// must be true for the definitions of `dataset`.
NMB_EXPORT Result<Dataset> selected_variables(const Dataset& dataset,
                                              std::span<const VarId> variables);

// Returns the values of a coordinate with scale_factor and add_offset applied. Missing values are
// NaN. slab: the values to read. Errors (with a message only): kUnsupported for _Unsigned, and if
// the values or one of these attributes are not numbers. Other errors: those of Dataset::read().
NMB_EXPORT Result<std::vector<double>> coordinate_values(const Dataset& dataset, VarId coordinate,
                                                         const Hyperslab& slab);

// Returns the text of an attribute; empty if it does not exist or is not of type char.
NMB_EXPORT std::string char_attribute(const Metadata& metadata, VarId owner, std::string_view name);

// Returns the text of an attribute that may also be strings, which spaces separate; empty if the
// attribute is not text. types: the types of the block.
NMB_EXPORT std::string string_attribute(const TypeTable& types, const Attribute& attribute);

}  // namespace nmb
