// The filter lzf (number 32000) of h5py, for values of variable length: only the HDF5 library can
// read and write these, so it needs the filter itself.
#pragma once

#include "wire/failure.h"

namespace nmb::hdf5 {

// Makes HDF5 use the filter from now on.
Status register_lzf();

}  // namespace nmb::hdf5
