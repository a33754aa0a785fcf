// The few functions of MPI that the preloaded library needs to decide about a file, for whichever
// MPI library the program has loaded. Handles are opaque words.
#pragma once

namespace nmb::preload {

enum class Mpi { kNone, kOpenMpi, kMpich };

// Returns the MPI library of this process. The result does not change once it is not kNone.
Mpi loaded_mpi();

// Returns the value that rank 0 of `communicator` passes. Collective.
int of_first_rank(void* communicator, int value);
int rank_in(void* communicator);

// Writes the value of a hint to `value`, at most `size` bytes with the NUL. Returns whether `info`
// has the hint.
bool hint_of(void* info, const char* key, char* value, int size);

// Return the handle of C for a handle of Fortran.
void* communicator_of(int fortran);
void* info_of(int fortran);

}  // namespace nmb::preload
