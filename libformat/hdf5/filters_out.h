// Filters of data sets to be made, whether they are installed or not.
#pragma once

#include <hdf5.h>

#include <vector>

#include "nmb/extension.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

// What filters are to HDF5 from now on, for data sets that are made or written next.
enum class FilterUse : std::uint8_t {
  kRun,   // values pass through them
  kKeep,  // chunks come filtered: parameters stay as they are, and none need be installed
};

// Adds filters to a creation property list. `file` is where data sets made before lie.
Status add_filters(const std::vector<Filter>& filters, FilterUse use, hid_t file, hid_t dcpl);
// Ahead of writing values through them.
Status use_filters(const std::vector<Filter>& filters, FilterUse use, hid_t file);

}  // namespace nmb::hdf5
