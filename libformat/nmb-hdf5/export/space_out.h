// Makes dataspaces and selections of HDF5. Encoded selections (H5Sencode) are decoded here and made
// again, because HDF5's own decoder does not check the counts in them.
#pragma once

#include <cstddef>
#include <span>

#include "handle.h"
#include "hdf5_types/hdf5_section.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

Result<Handle> make_space(const Space& space);

// Decodes a selection. The selection may extend beyond the space. Errors: kDamaged if the bytes are
// not in the form that H5Sencode of HDF5 1.8 to 1.10 writes.
Result<Handle> decode_selection(std::span<const std::byte> encoded);

}  // namespace nmb::hdf5
