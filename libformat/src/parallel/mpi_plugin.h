// What a plug-in nmb-mpi-*.so offers the library, and how the library finds one (see
// nmb/communicator.h). A plug-in shares types with the library, so both must be of one build.
#pragma once

#include <cstdint>
#include <memory>

#include "nmb/communicator.h"
#include "nmb/status.h"

namespace nmb {

// The plug-in's only symbol is one of these, named nmb_mpi_plugin, without C++ mangling.
struct MpiPlugin {
  // Must equal the library's NMB_TRANSPORT_BUILD before anything behind it is used.
  std::uint64_t build;
  // As open_mpi_ranks().
  Result<std::unique_ptr<Transport>> (*open)(const void* comm);
};

Result<std::unique_ptr<Transport>> open_mpi_transport(MpiLibrary library, const void* comm);

}  // namespace nmb
