// A group of an HDF5 file as a readable block (see hdf5/client/hdf5_file.h).
#pragma once

#include <memory>
#include <string>

#include "hdf5/client/hdf5_file.h"
#include "nmb/reader.h"

namespace nmb::hdf5 {

// Decodes the group's body and checks that its values are inside its extent. file: the name for
// messages. The entry is the one that open_hdf5() makes. Errors: kDamaged.
Result<std::shared_ptr<const Block>> decode_group(GroupBlock group, const std::string& file);

}  // namespace nmb::hdf5
