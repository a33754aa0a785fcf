// Reads the creation properties of an HDF5 data set in the form that a block stores.
#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "hdf5_types/hdf5_section.h"
#include "import/file_in.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// Returns the creation properties, except for the chunk shape and the filters. `type` is the type
// of the data set in memory, and `code` is the code of this type in `table`.
Result<Creation> creation_in(const FileIn& file, const TypeTable& table, hid_t plist, hid_t type,
                             Type code, const std::string& object);

Result<std::vector<Filter>> filters_in(hid_t plist, const std::string& object);

}  // namespace nmb::hdf5
