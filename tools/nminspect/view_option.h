// ViewOption: the option --view. With --view=netcdf, blocks are shown as netCDF shows them, without
// netCDF's internal objects. With --view=stored, blocks are shown as they are stored.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "handles/inspected_file.h"
#include "netcdf/netcdf_view.h"

namespace nmb::tools {

class ViewOption {
 public:
  // The paragraph about --view in a subcommand's help.
  static constexpr const char* kHelp =
      "--view=netcdf shows a block that came from HDF5 as netCDF does, with netCDF's names and "
      "dimensions. Data sets that are only dimensions are not shown. Attributes that netCDF uses "
      "internally are not shown: _NCProperties, _Netcdf4Dimid, _Netcdf4Coordinates, _nc3_strict, "
      "DIMENSION_LIST, REFERENCE_LIST, and the attributes CLASS and NAME of dimension scales. With "
      "--view=stored, everything is shown. The default, --view=auto, means netcdf for blocks that "
      "netCDF wrote, and stored for other blocks. A block counts as written by netCDF if it has "
      "_NCProperties, a _Netcdf4Dimid, or a data set that is only a dimension. A block also counts "
      "as written by netCDF if a block above it does. If a dimension has no name in HDF5, it is "
      "shown with the name that netCDF gives it (phony_dim_0), except with --view=stored.";

  void offer(CLI::App& command);
  // Returns the netCDF view of a dataset, or nullopt if the stored form must be shown. `block` is
  // the dataset's name in the file. `file` must be the same in every call and must outlive this
  // object. netCDF gives names to dimensions that have none in HDF5; fewer blocks are read if
  // `names` says that these names are not needed.
  Result<std::optional<NetcdfView>> of(const InspectedFile& file, std::string_view block,
                                       const Dataset& dataset,
                                       MadeUpNames names = MadeUpNames::kWanted) const;

 private:
  std::string view_ = "auto";
  mutable std::optional<FileDimensionsReader> dimensions_;  // of the file
};

}  // namespace nmb::tools
