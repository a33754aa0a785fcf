// File types of vard: an MPI datatype says which bytes of the file are meant, counted from the
// first value of a variable as the classic file has it.
#pragma once

#include <mpi.h>

#include <vector>

#include "open_file.h"

namespace nmb::pnetcdf {

struct FileRun {
  MPI_Offset offset, length;  // bytes
};

// Returns the bytes of a datatype in the order of its type map. Returns a code: kNotSupported for
// distributed arrays.
int runs_of(MPI_Datatype type, std::vector<FileRun>* runs);

// Finds the values at these bytes, from the begin of `variable` on; they may belong to several
// variables of its type. Without values: Access::values is not set. records: the number of records
// that the values need. Returns kEdge if a byte belongs to no variable, kTypeMismatch for a
// variable of another type.
int accesses_at(const OpenFile& file, int variable, const std::vector<FileRun>& runs,
                std::vector<Access>* accesses, MPI_Offset* records);

}  // namespace nmb::pnetcdf
