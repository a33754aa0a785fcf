// Finds the dimension scales from which a data set's dimensions get their names: those of HDF5
// (DIMENSION_LIST) and those of netCDF-4.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attributes_in.h"
#include "file_in.h"
#include "nmb/extension.h"

namespace nmb::hdf5 {

// Returns the path of the scale for each of `rank` dimensions of the data set at `path`; empty:
// none. A scale of one dimension is its own scale. types: of the attributes. Records the number of
// a netCDF-4 dimension in the file. Attributes in any other form than HDF5 and netCDF write them
// are ignored.
std::vector<std::string> scales_of(FileIn& file, const std::string& path,
                                   const std::vector<AttributeIn>& attributes,
                                   const TypeTable& types, std::size_t rank);

}  // namespace nmb::hdf5
