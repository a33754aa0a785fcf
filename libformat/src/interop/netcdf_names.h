// Names that netCDF programs cannot read in a netCDF-4 file.
#pragma once

#include "nmb/reader.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

// Checks the names that groups, data sets, links and attributes get in an HDF5 file. Reads the
// definitions of all blocks. kUnsupported: one has more than kMaxNetcdfNameBytes bytes; kDamaged;
// kIo.
Status check_netcdf_names(const Reader& reader);

}  // namespace nmb::hdf5
