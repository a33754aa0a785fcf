// ViewOption: whether blocks are shown as netCDF shows them, without its internal objects.
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
  // A paragraph of a subcommand's help.
  static constexpr const char* kHelp =
      "--view=netcdf shows a block that came from HDF5 as netCDF does: with netCDF's names and "
      "dimensions, without data sets that are only dimensions, and without attributes that netCDF "
      "uses internally (_NCProperties, _Netcdf4Dimid, _Netcdf4Coordinates, _nc3_strict, "
      "DIMENSION_LIST, REFERENCE_LIST; CLASS and NAME of dimension scales). --view=stored shows "
      "everything. --view=auto means netcdf for blocks that netCDF wrote (_NCProperties in the "
      "block or one above it, a _Netcdf4Dimid, or a data set that is only a dimension), otherwise "
      "stored. Dimensions without a name in HDF5 (phony_dim_0) have netCDF's names, except with "
      "--view=stored.";

  void offer(CLI::App& command);
  // nullopt: the block is shown as it is stored. block: the dataset's name in the file; must be the
  // same in every call and outlive the object. If names of dimensions without a name in HDF5 are
  // not needed, fewer blocks are read.
  Result<std::optional<NetcdfView>> of(const InspectedFile& file, std::string_view block,
                                       const Dataset& dataset,
                                       MadeUpNames names = MadeUpNames::kWanted) const;

 private:
  std::string view_ = "auto";
  mutable std::optional<FileDimensionsReader> dimensions_;  // of the file
};

}  // namespace nmb::tools
