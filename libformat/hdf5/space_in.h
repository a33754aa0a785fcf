// Converts dataspaces of HDF5 to those of a block.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>

#include "nmb/hdf5_section.h"

namespace nmb::hdf5 {

// object: for messages. Throws Failure.
Space space_in(hid_t id, const std::string& object);

// Returns the number of elements. Throws Failure (kDamaged) for more than 2^64.
std::uint64_t elements_of(const Space& space, const std::string& object);

}  // namespace nmb::hdf5
