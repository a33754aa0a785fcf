// Ranks that are processes of an MPI job. libnmb is not linked with any MPI: the plug-in for the
// library that launched the program is loaded when it is asked for.
#pragma once

#include <memory>
#include <optional>

#include "nmb/communicator.h"
#include "nmb/export.h"
#include "nmb/status.h"

namespace nmb {

enum class MpiLibrary { kOpenMpi, kMpich };

// Whose launcher (mpiexec, srun) started this process, by the environment; none: it was started
// alone. Where Slurm started several processes without telling any MPI about it: kMpich, and
// open_mpi_ranks() refuses.
NMB_EXPORT std::optional<MpiLibrary> launched_by();

// How many processes the launcher started, by the environment; 0: not told.
NMB_EXPORT int launched_ranks();

// This process's end of a network of its own between the ranks of *comm, which points to an
// MPI_Comm of that library and is duplicated; null: MPI_COMM_WORLD. Called by all of them, on the
// thread that initialised MPI, where the communicator is then used; all of them destroy it, which
// waits for the others a while. MPI is initialised if nobody did, and then finalised when the
// program ends. A program whose rank gives up calls fail() before it ends, or the others wait for
// it.
//
// The plug-in nmb-mpi-openmpi.so or nmb-mpi-mpich.so is looked for in the folders that
// NMB_PLUGIN_PATH names (separated by ':') or, if that is not set, in nmb/ beside the shared
// libnmb, in the library folder of the executable's installation, and where the dynamic linker
// looks for libraries (DT_RUNPATH, which the CMake package and nmb.pc set). kUnsupported: there is
// none, it cannot be loaded, it is of another build, or its MPI was not what launched this process.
// kUsage: another MPI is in this process, MPI was finalised, or *comm is no intracommunicator.
NMB_EXPORT Result<std::unique_ptr<Communicator>> open_mpi_ranks(MpiLibrary library,
                                                                const void* comm = nullptr);

}  // namespace nmb
