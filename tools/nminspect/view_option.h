// ViewOption: the option --view. The option shows blocks as netCDF shows them, without netCDF's
// internal objects, or as they are stored.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "nmb/netcdf_view.h"
#include "nminspect/inspected_file.h"

namespace nmb::tools {

class ViewOption {
 public:
  // The paragraph about --view in a subcommand's help.
  static constexpr const char* kHelp =
      "--view=netcdf shows a block that came from HDF5 as netCDF does: with netCDF's names and "
      "dimensions, without data sets that are only dimensions, and without attributes that netCDF "
      "uses internally (_NCProperties, _Netcdf4Dimid, _Netcdf4Coordinates, _nc3_strict, "
      "DIMENSION_LIST, REFERENCE_LIST; CLASS and NAME of dimension scales). With --view=stored, "
      "everything is shown. The default, --view=auto, means netcdf for blocks that netCDF wrote, "
      "and stored for others. A block counts as written by netCDF if the block or a block above it "
      "has _NCProperties, or if the block has a _Netcdf4Dimid or a data set that is only a "
      "dimension. Dimensions without a name in HDF5 are "
      "shown with netCDF's names (phony_dim_0), except with --view=stored.";

  void offer(CLI::App& command);
  // Returns the netCDF view of a dataset. Returns nullopt if the stored form must be shown. `block`
  // is the dataset's name in the file. `file` must be the same in every call and must outlive this
  // object. Fewer blocks are read if `names` says that netCDF's names for dimensions without a name
  // in HDF5 are not needed.
  Result<std::optional<NetcdfView>> of(const InspectedFile& file, std::string_view block,
                                       const Dataset& dataset,
                                       MadeUpNames names = MadeUpNames::kWanted) const;

 private:
  std::string view_ = "auto";
  mutable std::optional<FileDimensionsReader> dimensions_;  // of the file
};

}  // namespace nmb::tools
