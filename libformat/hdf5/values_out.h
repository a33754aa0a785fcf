// Writes values of variables to data sets of HDF5, with limited memory.
#pragma once

#include <span>
#include <utility>

#include "heap_out.h"
#include "nmb/status.h"
#include "source_block.h"

namespace nmb::hdf5 {

// Writes all values of a variable to its data set.
Status write_values(SourceBlock& source, VarId variable, hid_t data_set,
                    const FindObject& find_object);

// Returns whether a variable's values are small parts of records that contain values of several
// variables. If such variables were read one by one, all records would be read once for each
// variable.
bool is_column(const SourceBlock& source, VarId variable);
// Writes all values of variables for which is_column() is true, record by record. Their data sets
// must be open.
Status write_columns(SourceBlock& source, std::span<const std::pair<VarId, hid_t>> data_sets,
                     const FindObject& find_object);

}  // namespace nmb::hdf5
