// Finds the dimension scales from which a data set's dimensions get their names. Data sets refer to
// scales in the ways of HDF5 (DIMENSION_LIST) and of netCDF-4.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attributes_in.h"
#include "file_in.h"
#include "nmb/extension.h"

namespace nmb::hdf5 {

// Returns, for each of the `rank` dimensions of the data set at `path`, the path of the scale, or
// an empty string if there is none. A scale of one dimension is its own scale. `types` are the
// types of the attributes. If the data set is a scale, its netCDF-4 dimension number is added to
// `file`. Attributes are ignored unless they have the form that HDF5 and netCDF write.
std::vector<std::string> scales_of(FileIn& file, const std::string& path,
                                   const std::vector<AttributeIn>& attributes,
                                   const TypeTable& types, std::size_t rank);

}  // namespace nmb::hdf5
