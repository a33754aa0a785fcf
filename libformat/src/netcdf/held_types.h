// with_types_of: a classic dataset in a kind that lacks some of its types (docs/hdf5.md, "To
// classic netCDF").
#pragma once

#include <map>
#include <memory>
#include <string>

#include "nmb/dataset.h"
#include "nmb/netcdf_view.h"

namespace nmb {

// Integers of a type that CDF-1 and CDF-2 lack get the narrowest type of these that holds them:
// ubyte becomes short and ushort int; uint, int64 and uint64 become int, or double where int does
// not hold all values. What neither holds is left out. Each is a loss. Reads all values of such
// variables; a dataset without them stays as it is. found: by Loss::object, the types that are told
// instead of those of the dataset.
Result<ClassicView> with_types_of(std::shared_ptr<const Dataset> dataset, Kind target,
                                  const std::map<std::string, std::string>& found = {});

}  // namespace nmb
