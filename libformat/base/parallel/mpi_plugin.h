// Defines the interface of the plug-ins nmb-mpi-*.so, and opens such a plug-in (see
// parallel/communicator.h). A plug-in shares types with the library, so both must come from the
// same build.
#pragma once

#include <cstdint>
#include <memory>

#include "parallel/communicator.h"
#include "wire/failure.h"

namespace nmb {

// The plug-in's only symbol is an object of this type, named nmb_mpi_plugin, without C++ mangling.
struct MpiPlugin {
  // Build number of the plug-in. If it is not the library's NMB_TRANSPORT_BUILD, no other member
  // may be used.
  std::uint64_t build;
  // See open_mpi_ranks().
  Result<std::unique_ptr<Transport>> (*open)(const void* comm);
};

Result<std::unique_ptr<Transport>> open_mpi_transport(MpiLibrary library, const void* comm);

}  // namespace nmb
