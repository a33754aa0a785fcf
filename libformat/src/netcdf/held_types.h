// with_types_of: converts a classic dataset to a kind that lacks some of its types (docs/hdf5.md,
// "To classic netCDF").
#pragma once

#include <map>
#include <memory>
#include <string>

#include "nmb/dataset.h"
#include "nmb/netcdf_view.h"

namespace nmb {

// Integers of a type that CDF-1 and CDF-2 lack get the narrowest type of these kinds that holds
// them: ubyte becomes short, ushort becomes int; uint, int64 and uint64 become int, or double if
// int does not hold all values. A variable or attribute with values that double does not hold
// either is left out. Each change is a loss. Reads all values of such variables. A dataset that has
// none of these types is returned unchanged. found: by Loss::object, the types to name in the loss
// in place of those in the dataset.
Result<ClassicView> with_types_of(std::shared_ptr<const Dataset> dataset, Kind target,
                                  const std::map<std::string, std::string>& found = {});

}  // namespace nmb
