// Dataspaces of HDF5 as those of a block.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>

#include "hdf5/model/hdf5_section.h"

namespace nmb::hdf5 {

// object: for the message. Throws Failure.
Space space_in(hid_t id, const std::string& object);

// How many elements it has. Throws Failure (kDamaged): more than 2^64.
std::uint64_t elements_of(const Space& space, const std::string& object);

}  // namespace nmb::hdf5
