// The option --hdf5-view (see hdf5_view_option.h).
#include "common/hdf5_view_option.h"

#include "common/tool.h"

namespace nmb::tools {

void offer_hdf5_view(CLI::App& app, std::optional<Hdf5View>* view) {
  offer_choice<Hdf5View>(
      app, "--hdf5-view", view, "WHEN",
      {{"auto", Hdf5View::kAuto}, {"on", Hdf5View::kOn}, {"off", Hdf5View::kOff}},
      "HDF5 view of an NMB output: HDF5 and netCDF-4 programs can open a file with a view (ncdump "
      "-h OUT.nmb). With --hdf5-view on, a view is added; if no view is possible, no output is "
      "written. With --hdf5-view auto, a view is added if it is possible and the output has at "
      "most 100,000 dimensions and variables. With --hdf5-view off, no view is added. Without this "
      "option, an output with data from HDF5 or netCDF-4 gets a view if the view takes at most 2 % "
      "of the output; --append makes a new view if the file already has a view");
}

}  // namespace nmb::tools
