// Finds the dimension scales from which a data set's dimensions get their names. A data set refers
// to scales by HDF5's attribute DIMENSION_LIST, or by netCDF-4's attributes _Netcdf4Coordinates and
// _Netcdf4Dimid.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "import/attributes_in.h"
#include "import/file_in.h"
#include "model/extension.h"

namespace nmb::hdf5 {

// Returns the paths of the scales of a data set's dimensions. The data set has `rank` dimensions,
// and `path` is its path. If a dimension has no scale, the path of its scale is an empty string. If
// the data set is a scale with one dimension, it is the scale of this dimension. `types` are the
// types of the attributes. If the data set is a scale, its path and its netCDF-4 dimension number
// are added to `file.scales`. Attributes are ignored unless they have the form that HDF5 and netCDF
// write.
std::vector<std::string> scales_of(FileIn& file, const std::string& path,
                                   const std::vector<AttributeIn>& attributes,
                                   const TypeTable& types, std::size_t rank);

}  // namespace nmb::hdf5
