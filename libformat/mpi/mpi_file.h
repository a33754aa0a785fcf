// Reads and writes files with MPI-IO, for the plug-in.
#pragma once

#include "parallel/communicator.h"

namespace nmb {

const MpiIo& mpi_files();

}  // namespace nmb
