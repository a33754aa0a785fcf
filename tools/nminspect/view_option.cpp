#include "nminspect/view_option.h"

#include <optional>
#include <utility>

#include "common/command_line/tool.h"
#include "hdf5_types/netcdf_marks.h"

namespace nmb::tools {

namespace {

// Returns whether a block itself shows that netCDF wrote it, and not another program that uses
// dimension scales.
bool has_marks(const Dataset& dataset) {
  const Metadata& metadata = dataset.metadata;
  if (metadata.find_attribute(kGlobal, "_NCProperties")) return true;
  for (VarId id = 0; id < metadata.variable_count(); ++id)
    if (is_dimension_only(metadata, id) || metadata.find_attribute(id, "_Netcdf4Dimid"))
      return true;
  return false;
}

// Returns whether netCDF wrote the block: the block or a block above it has netCDF's marks.
Result<bool> is_of_netcdf(const InspectedFile& file, std::string_view block,
                          const Dataset& dataset) {
  if (has_marks(dataset)) return true;
  while (!block.empty()) {
    const std::size_t slash = block.rfind('/');
    block = slash == block.npos ? "" : block.substr(0, slash);
    NMB_ASSIGN(const std::optional<BlockEntry> above, file.find(block));
    if (!above) continue;
    NMB_ASSIGN(const std::shared_ptr<const Dataset> holder, file.dataset(*above));
    if (has_marks(*holder)) return true;
  }
  return false;
}

}  // namespace

void ViewOption::offer(CLI::App& command) {
  offer_word(command, "--view", &view_, "VIEW", {"auto", "netcdf", "stored"},
             "auto (default), netcdf or stored");
}

Result<std::optional<NetcdfView>> ViewOption::of(const InspectedFile& file, std::string_view block,
                                                 const Dataset& dataset, MadeUpNames names) const {
  if (view_ == "stored" || !dataset.metadata.extension()) return std::optional<NetcdfView>();
  NetcdfView view = netcdf_view(dataset);
  bool wanted = view.is_netcdf || view_ == "netcdf";
  if (wanted && view_ == "auto") {
    NMB_ASSIGN(wanted, is_of_netcdf(file, block, dataset));
  }
  if (!dimensions_) dimensions_.emplace(file.blocks());
  NMB_ASSIGN(const FileDimensions dimensions, dimensions_->of(dataset, names));
  // If a dimension has no name in HDF5, the name that netCDF gives it is shown, even if netCDF did
  // not write the file.
  if (!wanted && !dimensions.first_made_up) return std::optional<NetcdfView>();
  view = netcdf_view(dataset, &dimensions.lengths, dimensions.first_made_up);
  view.is_netcdf = wanted;
  // netCDF-C shows a dimension of length 0 as unlimited.
  for (NetcdfView::Dimension& dimension : view.dimensions)
    dimension.may_grow = dimension.may_grow || dimension.length == 0;
  return std::optional(std::move(view));
}

}  // namespace nmb::tools
