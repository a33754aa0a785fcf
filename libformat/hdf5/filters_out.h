// Filters of data sets to be made, whether the filters are installed or not.
#pragma once

#include <hdf5.h>

#include <vector>

#include "nmb/extension.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

// How HDF5 applies filters from now on, to data sets that are made or written next.
enum class FilterUse : std::uint8_t {
  kRun,   // values pass through the filters
  kKeep,  // chunks are written in filtered form: parameters stay as they are, and no filter need be
          // installed
};

// Adds filters to a creation property list. `file`: the file of data sets that were made before.
Status add_filters(const std::vector<Filter>& filters, FilterUse use, hid_t file, hid_t dcpl);
// Call this before values are written through the filters.
Status use_filters(const std::vector<Filter>& filters, FilterUse use, hid_t file);

}  // namespace nmb::hdf5
