// Reads dataspaces of HDF5, and selections of their elements, in the form that a block stores.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hdf5_types/hdf5_section.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// Reads a dataspace. `object` is the name of the object for messages.
Result<Space> space_in(hid_t id, const std::string& object);

// Returns the number of elements of a space. Errors: kDamaged if the number is too large for 64
// bits.
Result<std::uint64_t> elements_of(const Space& space, const std::string& object);

enum class Extent {
  kOwn,
  kOfVirtual,  // lengths of unlimited dimensions are stored as 0, because HDF5 computes them from
               // the sources
};

// Makes the selection again from its points or blocks, and returns the new selection as H5Sencode
// encodes it. Errors: kLimit if there are too many blocks.
Result<std::vector<std::byte>> encoded_selection(hid_t space, const std::string& object,
                                                 Extent extent = Extent::kOwn);

}  // namespace nmb::hdf5
