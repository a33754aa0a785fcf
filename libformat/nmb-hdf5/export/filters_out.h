// Sets the filters of new data sets, whether the filters are installed or not.
#pragma once

#include <hdf5.h>

#include <vector>

#include "model/extension.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// How HDF5 applies filters to data sets that are made or written from now on.
enum class FilterUse : std::uint8_t {
  kRun,   // values pass through the filters
  kKeep,  // chunks are written in filtered form; the parameters do not change, and the filters need
          // not be installed
};

// Adds filters to a creation property list. `file` is the file to which the data sets belong.
Status add_filters(const std::vector<Filter>& filters, FilterUse use, hid_t file, hid_t dcpl);
// Makes HDF5 apply the filters as `use` says. Call this before values are written through them.
Status use_filters(const std::vector<Filter>& filters, FilterUse use, hid_t file);

}  // namespace nmb::hdf5
