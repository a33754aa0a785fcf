// Selections of dataspaces, encoded the same whichever way they were made.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <string>
#include <vector>

namespace nmb::hdf5 {

// What H5Sencode gives of the selection, made again from its blocks. object: for messages. Throws
// Failure.
std::vector<std::byte> encoded_selection(hid_t space, const std::string& object);

}  // namespace nmb::hdf5
