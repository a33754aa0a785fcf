// Dataspaces of HDF5 as those of a block, and selections of their elements.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hdf5/model/hdf5_section.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

// object: for messages, as in all files that read.
Result<Space> space_in(hid_t id, const std::string& object);

// How many elements it has. kDamaged: more than 2^64.
Result<std::uint64_t> elements_of(const Space& space, const std::string& object);

enum class Extent {
  kOwn,
  kOfVirtual,  // lengths that may grow are what HDF5 finds of the sources: 0 is kept
};

// What H5Sencode gives of the selection, made again from its blocks. kLimit: too many of them.
Result<std::vector<std::byte>> encoded_selection(hid_t space, const std::string& object,
                                                 Extent extent = Extent::kOwn);

}  // namespace nmb::hdf5
