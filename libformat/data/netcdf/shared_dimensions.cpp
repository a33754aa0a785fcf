#include "netcdf/shared_dimensions.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "hdf5_types/hdf5_section.h"
#include "model/paths.h"
#include "netcdf/group_order.h"
#include "wire/endian.h"

namespace nmb {

namespace {

using hdf5::Property;

// Returns whether a section begins with the property that marks classic datasets of kind 6. Other
// sections need not be decoded.
bool begins_with_mark(std::span<const std::byte> section) {
  return section.size() >= sizeof(std::uint16_t) &&
         load_le<std::uint16_t>(section.data()) ==
             static_cast<std::uint16_t>(Property::Number::kDimensionsAbove);
}

bool has_reference(const TypeTable& types) {
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i].type_class == TypeClass::kReference) return true;
  return false;
}

// Returns the result of levels_above(), or nullopt if a block of kind 6 is not a classic dataset.
std::optional<std::vector<std::uint32_t>> levels_of_classic(const Metadata& metadata) {
  const Extension* const extension = metadata.extension().get();
  if (!extension || !begins_with_mark(extension->hdf5) || has_reference(extension->types) ||
      std::ranges::any_of(extension->storage, [](const Storage& storage) {
        return storage.kind == StorageKind::kNone;
      }))
    return std::nullopt;
  const Result<std::vector<Property>> properties = hdf5::decode_properties(extension->hdf5);
  if (!properties.ok() ||
      std::ranges::any_of(std::span(*properties).subspan(1), [](const Property& property) {
        const bool is_scalar_attribute = property.number == Property::Number::kSpace &&
                                         property.attribute != hdf5::kNoAttribute &&
                                         property.space.space_class == hdf5::SpaceClass::kScalar;
        return property.number != Property::Number::kCreation &&
               property.number != Property::Number::kDamagedChunks && !is_scalar_attribute;
      }))
    return std::nullopt;
  std::vector<std::uint32_t> levels(metadata.dimension_count());
  for (const hdf5::DimensionAbove& above : properties->front().dimensions_above) {
    if (above.dimension >= levels.size()) return std::nullopt;
    levels[above.dimension] = above.levels;
  }
  return levels;
}

}  // namespace

std::vector<std::uint32_t> levels_above(const Metadata& metadata) {
  return levels_of_classic(metadata).value_or(std::vector<std::uint32_t>());
}

bool is_classic_dataset(const Metadata& metadata) {
  return !metadata.extension() || levels_of_classic(metadata);
}

bool has_classic_values(const Metadata& metadata) {
  const Extension* const extension = metadata.extension().get();
  if (!extension) return true;
  return extension->types.size() == 0 && extension->storage.empty() &&
         std::ranges::all_of(extension->unlimited, &Unlimited::is_record) &&
         levels_of_classic(metadata);
}

bool may_grow(const Metadata& metadata, DimId dimension) {
  if (metadata.dimension(dimension).is_record()) return true;
  if (!metadata.extension()) return false;
  for (const Unlimited& u : metadata.extension()->unlimited)
    if (u.dimension == dimension) return true;
  return false;
}

std::optional<DimId> first_growing(const Metadata& metadata) {
  if (const auto record = metadata.record_dimension()) return record;
  if (!metadata.extension() || metadata.extension()->unlimited.empty()) return std::nullopt;
  return metadata.extension()->unlimited.front().dimension;
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
  struct DerivedDataset {
    std::shared_ptr<const Dataset> of;
    Dataset dataset;
  };
  const auto kept =
      std::make_shared<DerivedDataset>(DerivedDataset{std::move(of), std::move(dataset)});
  return {kept, &kept->dataset};
}

std::shared_ptr<const Dataset> as_classic(std::shared_ptr<const Dataset> dataset) {
  if (!dataset->metadata.extension() || !has_classic_values(dataset->metadata)) return dataset;
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

Property dimensions_above(const std::vector<std::uint32_t>& levels) {
  Property property;
  property.number = Property::Number::kDimensionsAbove;
  for (DimId d = 0; d < levels.size(); ++d)
    if (levels[d] > 0) property.dimensions_above.push_back({d, levels[d]});
  return property;
}

Dataset with_dimensions_above(const Dataset& dataset, const std::vector<std::uint32_t>& levels) {
  Dataset out = dataset;
  auto extension = std::make_shared<Extension>();
  if (const auto record = out.metadata.record_dimension())
    extension->unlimited.push_back({*record, true});
  hdf5::append_property(dimensions_above(levels), &extension->hdf5);
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
