// Hdf5Options: the options with which an HDF5 file is written.
#pragma once

#include <functional>

#include "convert/convert.h"
#include "wire/failure.h"

namespace nmb {

struct Hdf5Options : ExtractOptions {
  // Set if the source is a temporary file whose values are in other files and have no checksums.
  // Called before the output is checked and published; returns an error if one of these files has
  // changed.
  std::function<Status()> links_unchanged{};
};

}  // namespace nmb
