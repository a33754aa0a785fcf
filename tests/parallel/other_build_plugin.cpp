// A plug-in of another build of the library, to be refused before anything of it is used.
#include "parallel/mpi_plugin.h"

extern "C" NMB_EXPORT const nmb::MpiPlugin nmb_mpi_plugin;
const nmb::MpiPlugin nmb_mpi_plugin{17, nullptr};
