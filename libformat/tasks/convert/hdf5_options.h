// Hdf5Options: the options of write_hdf5(), and those that only callers inside the library set.
#pragma once

#include <functional>

#include "nmb/convert.h"
#include "nmb/status.h"

namespace nmb {

struct Hdf5Options : ConvertOptions {
  // Set if the source is a temporary file whose values are in other files and have no checksums.
  // Called before the output is checked and published; returns an error if one of these files has
  // changed.
  std::function<Status()> links_unchanged{};
};

}  // namespace nmb
