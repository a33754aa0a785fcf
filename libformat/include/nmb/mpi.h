// For programs that use MPI themselves: makes ranks from an MPI_Comm. This header includes mpi.h;
// the MPI library to which mpi.h belongs determines which plug-in is loaded.
#pragma once

#include <mpi.h>

#include "nmb/ranks.h"

namespace nmb {

// Collective over `comm`. Destroy the ranks before MPI_Finalize(). Errors: those of Ranks::mpi().
inline Result<Ranks> try_mpi_ranks(MPI_Comm comm) {
#if defined(OPEN_MPI)
  return Ranks::try_mpi(MpiLibrary::kOpenMpi, &comm);
#elif defined(MPICH_VERSION)
  return Ranks::try_mpi(MpiLibrary::kMpich, &comm);
#else
#error "this mpi.h belongs to neither Open MPI nor MPICH; other MPI libraries are not supported"
#endif
}
inline Ranks mpi_ranks(MPI_Comm comm) { return check(try_mpi_ranks(comm)); }

}  // namespace nmb
