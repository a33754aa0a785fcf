// Decodes a group of an HDF5 file to a readable block (see hdf5/client/hdf5_file.h).
#pragma once

#include <memory>
#include <string>

#include "hdf5/client/hdf5_file.h"
#include "nmb/reader.h"

namespace nmb::hdf5 {

// Decodes the group's body and checks that the group's values lie within its extent. `file` is the
// name of the file in messages. The block's entry is like the entries that open_hdf5() makes.
// Errors: kDamaged.
Result<std::shared_ptr<const Block>> decode_group(GroupBlock group, const std::string& file);

}  // namespace nmb::hdf5
