// The option --hdf5-view (see hdf5_view_option.h).
#include "common/hdf5_view_option.h"

#include "common/tool.h"

namespace nmb::tools {

void offer_hdf5_view(CLI::App& app, std::optional<Hdf5View>* view) {
  offer_choice<Hdf5View>(
      app, "--hdf5-view", view, "WHEN",
      {{"auto", Hdf5View::kAuto}, {"on", Hdf5View::kOn}, {"off", Hdf5View::kOff}},
      "HDF5 view of an NMB output: on: HDF5 and netCDF-4 programs can open it (ncdump -h "
      "OUT.nmb); if a view is not possible, nothing is written; auto: with a view if "
      "possible and if there are at most 100,000 dimensions and variables; off (default, but a "
      "file that has a view gets a new one with --append)");
}

}  // namespace nmb::tools
