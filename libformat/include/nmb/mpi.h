// For programs that use MPI themselves: makes a communicator from an MPI_Comm. Includes mpi.h; the
// library that it belongs to decides which plug-in is loaded.
#pragma once

#include <mpi.h>

#include <memory>

#include "nmb/communicator.h"

namespace nmb {

// See open_mpi_ranks(). Destroy the communicator before MPI_Finalize is called.
inline Result<std::unique_ptr<Communicator>> mpi_communicator(MPI_Comm comm) {
#if defined(OPEN_MPI)
  return open_mpi_ranks(MpiLibrary::kOpenMpi, &comm);
#elif defined(MPICH_VERSION)
  return open_mpi_ranks(MpiLibrary::kMpich, &comm);
#else
#error "found the mpi.h of another library, expected Open MPI's or MPICH's"
#endif
}

}  // namespace nmb
