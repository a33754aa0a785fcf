// Converts a classic dataset to a kind that does not have all of its types (docs/reference/hdf5.md,
// "To classic netCDF").
#pragma once

#include <map>
#include <memory>
#include <string>

#include "model/dataset.h"
#include "netcdf/netcdf_view.h"

namespace nmb {

// Converts variables and attributes whose integer type does not exist in CDF-1 and CDF-2, and reads
// all their values to do so.
// - ubyte becomes short, and ushort becomes int.
// - uint, int64 and uint64 become int, or double if int does not hold all values.
// - A variable or attribute is left out if double does not hold all values either.
//
// Each change is a loss. A dataset without such types is returned unchanged. found: for each
// Loss::object, the original type that the text of the loss shows.
Result<ClassicView> with_types_of(std::shared_ptr<const Dataset> dataset, Kind target,
                                  const std::map<std::string, std::string>& found = {});

}  // namespace nmb
