// Encodes selections of dataspaces the same way, however they were made.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <string>
#include <vector>

namespace nmb::hdf5 {

enum class Extent {
  kOwn,
  kOfVirtual,  // lengths that may grow depend on what HDF5 finds in the sources: 0 is kept
};

// Returns the selection as H5Sencode would, after it was made again from its blocks. object: for
// messages. Throws Failure.
std::vector<std::byte> encoded_selection(hid_t space, const std::string& object,
                                         Extent extent = Extent::kOwn);

}  // namespace nmb::hdf5
