// For programs that use MPI themselves: makes a communicator from an MPI_Comm. This header includes
// mpi.h. The MPI library to which mpi.h belongs determines which plug-in is loaded.
#pragma once

#include <mpi.h>

#include <memory>

#include "parallel/communicator.h"

namespace nmb {

// See open_mpi_ranks(). Destroy the communicator before MPI_Finalize is called.
inline Result<std::unique_ptr<Communicator>> mpi_communicator(MPI_Comm comm) {
#if defined(OPEN_MPI)
  return open_mpi_ranks(MpiLibrary::kOpenMpi, &comm);
#elif defined(MPICH_VERSION)
  return open_mpi_ranks(MpiLibrary::kMpich, &comm);
#else
#error "this mpi.h belongs to neither Open MPI nor MPICH; other MPI libraries are not supported"
#endif
}

}  // namespace nmb
