// Dataspaces of HDF5 as those of a block.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>

#include "nmb/hdf5_section.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

// object: for messages, as in all files that read.
Result<Space> space_in(hid_t id, const std::string& object);

// How many elements it has. kDamaged: more than 2^64.
Result<std::uint64_t> elements_of(const Space& space, const std::string& object);

}  // namespace nmb::hdf5
