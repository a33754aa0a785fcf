#include "common/options/hdf5_view_option.h"

#include "common/command_line/tool.h"

namespace nmb::tools {

Status ViewChoice::check(bool can_have_view) const {
  if (!has_options() || (can_have_view && view != Hdf5View::kOff)) return {};
  return Status(Code::kUsage, std::string(dimensions ? "--view-dimensions" : "--view-copies") +
                                  " needs an NMB output with an HDF5 view");
}

void offer_hdf5_view(CLI::App& app, ViewChoice* choice) {
  offer_choice<Hdf5View>(
      app, "--hdf5-view", &choice->view, "WHEN",
      {{"auto", Hdf5View::kAuto}, {"on", Hdf5View::kOn}, {"off", Hdf5View::kOff}},
      "HDF5 view of an NMB output: HDF5 and netCDF-4 programs can open a file with a view (ncdump "
      "-h OUT.nmb). With --hdf5-view on, a view is added; if no view is possible, no output is "
      "written. With --hdf5-view auto, a view is added if it is possible and the output has at "
      "most 100,000 dimensions and variables. With --hdf5-view off, no view is added. Without this "
      "option, an output with data from HDF5 or netCDF-4 gets a view if the view takes at most 2 % "
      "of the output; --append makes a new view if the file already has a view");
  offer_choice<bool>(
      app, "--view-dimensions", &choice->dimensions, "WHICH", {{"all", true}, {"none", false}},
      "dimensions that the HDF5 view shows (default: all). With none, the view is smaller, and "
      "netCDF programs show the dimensions of blocks from classic files without their names");
  app.add_flag_function(
      "--view-copies,!--no-view-copies",
      [choice](std::int64_t given) { choice->copies = given > 0; },
      "store copies of strings of variable length, sequences and references in the HDF5 view. "
      "Without copies, HDF5 programs do not see variables with such values. A new view of a file "
      "has the same options as the previous view, unless they are given");
}

}  // namespace nmb::tools
