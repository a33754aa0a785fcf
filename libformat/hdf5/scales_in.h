// Which dimension scales give a data set's dimensions their names: of HDF5's own (DIMENSION_LIST)
// and as netCDF-4 keeps them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attributes_in.h"
#include "file_in.h"
#include "nmb/extension.h"

namespace nmb::hdf5 {

// The path of the scale of each of `rank` dimensions of the data set at `path`; empty: none. A
// scale of one dimension is its own. types: of the attributes. Notes the number of a netCDF-4
// dimension in the file. What is not as HDF5 and netCDF write it names nothing.
std::vector<std::string> scales_of(FileIn& file, const std::string& path,
                                   const std::vector<AttributeIn>& attributes,
                                   const TypeTable& types, std::size_t rank);

}  // namespace nmb::hdf5
