// The interface of a plug-in nmb-mpi-*.so, and how the library finds one (see nmb/communicator.h).
// A plug-in shares types with the library, so both must come from the same build.
#pragma once

#include <cstdint>
#include <memory>

#include "nmb/communicator.h"
#include "nmb/status.h"

namespace nmb {

// The plug-in's only symbol is an object of this type, named nmb_mpi_plugin, without C++ mangling.
struct MpiPlugin {
  // Must equal the library's NMB_TRANSPORT_BUILD before any member after it is used.
  std::uint64_t build;
  // See open_mpi_ranks().
  Result<std::unique_ptr<Transport>> (*open)(const void* comm);
};

Result<std::unique_ptr<Transport>> open_mpi_transport(MpiLibrary library, const void* comm);

}  // namespace nmb
