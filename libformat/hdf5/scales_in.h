// Which dimension scales give a data set's dimensions their names: of HDF5's own (DIMENSION_LIST)
// and as netCDF-4 keeps them.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <string>
#include <vector>

namespace nmb::hdf5 {

struct FileIn;

// The path of the scale of each of `rank` dimensions; empty: none. A scale of one dimension is its
// own. Notes the number of a netCDF-4 dimension in the file. What is not as HDF5 and netCDF write
// it names nothing.
std::vector<std::string> scales_of(FileIn& file, const std::string& path, hid_t data_set,
                                   std::size_t rank);

}  // namespace nmb::hdf5
