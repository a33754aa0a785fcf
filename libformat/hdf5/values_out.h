// Values of variables into data sets of HDF5, in bounded memory.
#pragma once

#include "heap_out.h"
#include "nmb/status.h"
#include "source_block.h"

namespace nmb::hdf5 {

// Writes all values there are of a variable into its data set.
Status write_values(SourceBlock& source, VarId variable, hid_t data_set,
                    const FindObject& find_object);

}  // namespace nmb::hdf5
