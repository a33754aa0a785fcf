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

// Returns the paths of the scales of a data set's dimensions; the path is empty if a dimension has
// no scale. The data set has `rank` dimensions and the path `path`; `types` are the types of its
// attributes. A data set that is a scale with one dimension is the scale of this dimension. If the
// data set is a scale, its path and its netCDF-4 dimension number are added to `file.scales`.
// Attributes are ignored unless they have the form that HDF5 and netCDF write.
std::vector<std::string> scales_of(FileIn& file, const std::string& path,
                                   const std::vector<AttributeIn>& attributes,
                                   const TypeTable& types, std::size_t rank);

}  // namespace nmb::hdf5
