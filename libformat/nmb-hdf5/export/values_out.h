// Writes values of variables to data sets of HDF5, with limited memory.
#pragma once

#include <span>
#include <utility>

#include "export/heap_out.h"
#include "import/export_source.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// Writes all values of a variable to its data set.
Status write_values(ExportSource& source, VarId variable, hid_t data_set,
                    const FindObject& find_object);

// Returns whether a variable has only a small part of each record, because the records contain
// values of several variables. If such variables were written one after another, each of them would
// read all records.
bool is_column(const ExportSource& source, VarId variable);
// Writes all values of several variables, record by record. The function is for variables for which
// is_column() is true. The data sets of the variables must be open.
Status write_columns(ExportSource& source, std::span<const std::pair<VarId, hid_t>> data_sets,
                     const FindObject& find_object);

}  // namespace nmb::hdf5
