// group_order: the groups of an HDF5 file that is made of an NMB file, in the order in which
// netCDF-C reads them.
#pragma once

#include <string>
#include <vector>

#include "nmb/reader.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

// The names of all blocks: each ahead of those below it, groups of a group in the order of their
// links where that is tracked, else in that of their names. Reads the hdf5 sections of all blocks
// of kind 6. kDamaged, kIo.
Result<std::vector<std::string>> group_order(const Reader& reader);

}  // namespace nmb::hdf5
