// Handles dimensions of groups above (see netcdf/shared_dimensions.h).
#include "netcdf/shared_dimensions.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "hdf5/model/hdf5_section.h"
#include "model/paths.h"
#include "netcdf/group_order.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

using hdf5::Property;

}  // namespace

std::vector<std::uint32_t> levels_above(const Metadata& metadata) {
  const Extension* const extension = metadata.extension().get();
  if (!extension || extension->hdf5.empty() || extension->types.size() > 0 ||
      !extension->storage.empty() ||
      std::ranges::any_of(extension->unlimited, [](const Unlimited& u) { return !u.is_record; }))
    return {};
  const Result<std::vector<Property>> properties = hdf5::decode_properties(extension->hdf5);
  if (!properties.ok() || properties->size() != 1 ||
      properties->front().number != Property::Number::kDimensionsAbove)
    return {};
  std::vector<std::uint32_t> levels(metadata.dimension_count());
  for (const hdf5::DimensionAbove& above : properties->front().dimensions_above) {
    if (above.dimension >= levels.size()) return {};
    levels[above.dimension] = above.levels;
  }
  return levels;
}

bool is_classic_dataset(const Metadata& metadata) {
  return !metadata.extension() || !levels_above(metadata).empty();
}

std::optional<std::string> path_above(std::string_view block, std::uint32_t levels,
                                      std::string_view dimension) {
  for (; levels > 0; --levels) {
    if (block.empty()) return std::nullopt;
    const std::size_t slash = block.rfind('/');
    block = block.substr(0, slash == block.npos ? 0 : slash);
  }
  return joined_path(block, dimension);
}

std::shared_ptr<const Dataset> dataset_keeping(std::shared_ptr<const Dataset> of, Dataset dataset) {
  struct Kept {
    std::shared_ptr<const Dataset> of;
    Dataset dataset;
  };
  const auto kept = std::make_shared<Kept>(Kept{std::move(of), std::move(dataset)});
  return {kept, &kept->dataset};
}

std::shared_ptr<const Dataset> as_classic(std::shared_ptr<const Dataset> dataset) {
  if (!dataset->metadata.extension()) return dataset;
  Dataset classic = *dataset;
  classic.metadata.set_extension(nullptr);
  classic.layout.kind = Kind::kCdf5;
  return dataset_keeping(std::move(dataset), std::move(classic));
}

std::uint32_t levels_between(std::string_view block, std::string_view path) {
  if (path.empty()) return 0;
  if (path.starts_with('/')) path.remove_prefix(1);
  const std::size_t slash = path.rfind('/');
  const std::string_view group = path.substr(0, slash == path.npos ? 0 : slash);
  if (block.size() == group.size() || !hdf5::is_at_or_below(block, group)) return 0;
  const std::string_view between = block.substr(group.size() + (group.empty() ? 0 : 1));
  return static_cast<std::uint32_t>(std::ranges::count(between, '/') + 1);
}

Dataset with_dimensions_above(const Dataset& dataset, const std::vector<std::uint32_t>& levels) {
  Dataset out = dataset;
  auto extension = std::make_shared<Extension>();
  if (const auto record = out.metadata.record_dimension())
    extension->unlimited.push_back({*record, true});
  Property property;
  property.number = Property::Number::kDimensionsAbove;
  for (DimId d = 0; d < levels.size(); ++d)
    if (levels[d] > 0) property.dimensions_above.push_back({d, levels[d]});
  hdf5::append_property(property, &extension->hdf5);
  out.metadata.set_extension(std::move(extension));
  for (VarId v = 0; v < out.metadata.variable_count(); ++v)
    out.metadata.set_begin(v, out.metadata.begin(v) - dataset.layout.header_length);
  out.layout.kind = Kind::kExtended;
  out.layout.fixed_end -= dataset.layout.header_length;
  out.layout.record_begin -= dataset.layout.header_length;
  out.layout.header_length = 0;
  return out;
}

}  // namespace nmb
