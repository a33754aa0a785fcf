// Values of variables into data sets of HDF5, in bounded memory.
#pragma once

#include <span>
#include <utility>

#include "heap_out.h"
#include "nmb/status.h"
#include "source_block.h"

namespace nmb::hdf5 {

// Writes all values there are of a variable into its data set.
Status write_values(SourceBlock& source, VarId variable, hid_t data_set,
                    const FindObject& find_object);

// Whether a variable's values are small parts of records that hold those of several: read for each
// variable alone, all records would be read as often as there are variables.
bool is_column(const SourceBlock& source, VarId variable);
// Writes all values of such variables, which are open, record by record.
Status write_columns(SourceBlock& source, std::span<const std::pair<VarId, hid_t>> data_sets,
                     const FindObject& find_object);

}  // namespace nmb::hdf5
