// Selections of dataspaces, encoded the same whichever way they were made.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <string>
#include <vector>

#include "nmb/status.h"

namespace nmb::hdf5 {

enum class Extent {
  kOwn,
  kOfVirtual,  // lengths that may grow are what HDF5 finds of the sources: 0 is kept
};

// What H5Sencode gives of the selection, made again from its blocks. kLimit: too many of them.
Result<std::vector<std::byte>> encoded_selection(hid_t space, const std::string& object,
                                                 Extent extent = Extent::kOwn);

}  // namespace nmb::hdf5
