#include "client/netcdf_check.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "hdf5_types/hdf5_section.h"
#include "hdf5_types/netcdf_marks.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "netcdf/shared_dimensions.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

Status seen_otherwise(const std::string& variable, const std::string& seen,
                      const std::string& expected) {
  return Status(Code::kDamaged, "the written file differs from the source: variable " +
                                    in_quotes(variable) + ": netCDF sees " + seen +
                                    ", expected dimension " + in_quotes(expected));
}

// Checks the length of a name. `ahead` is the length of the prefix that the name gets.
Status check_name(std::string_view what, const std::string& path, std::string_view name,
                  std::size_t ahead) {
  if (name.size() + ahead <= kMostNetcdfName) return {};
  return failure(Code::kUnsupported, what, " ", in_quotes(path.substr(0, 80)), ": found a name of ",
                 name.size() + ahead, " bytes in a netCDF-4 file, expected at most ",
                 kMostNetcdfName, " (MergeOptions::netcdf = false has no such limit)");
}

Status check_attributes(const LoadedBlock& block, std::uint32_t owner) {
  Status status;
  block.metadata.for_each_attribute(owner, [&](const Attribute& attribute) {
    const std::string_view object = owner == kGlobal ? "" : block.metadata.variable(owner).name;
    if (status.ok())
      status =
          check_name("attribute", joined_path(block.name, joined_text(object, "@", attribute.name)),
                     attribute.name, 0);
  });
  return status;
}

}  // namespace

Status check_netcdf_names(const NamedBlocks& blocks) {
  return blocks.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    const std::string_view path = entry.name;
    for (std::size_t from = 0; from < path.size();) {
      const std::size_t to = std::min(path.find('/', from), path.size());
      NMB_TRY(check_name("block", entry.name, path.substr(from, to - from), 0));
      from = to + 1;
    }
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, blocks.block(entry));
    const Metadata& metadata = block->metadata;
    const bool is_classic = is_classic_dataset(metadata);
    for (DimId d = 0; is_classic && d < metadata.dimension_count(); ++d)
      NMB_TRY(check_name("dimension", joined_path(block->name, metadata.dimension(d).name),
                         metadata.dimension(d).name, 0));
    for (VarId v = 0; v < metadata.variable_count(); ++v) {
      const Variable variable = metadata.variable(v);
      // A variable gets a prefix if it has the name of a dimension that is not its first dimension.
      const std::optional<DimId> same =
          is_classic ? metadata.find_dimension(variable.name) : std::nullopt;
      const bool is_hidden =
          same && (variable.dimensions.empty() || variable.dimensions[0] != *same);
      NMB_TRY(check_name("variable", joined_path(block->name, variable.name), variable.name,
                         is_hidden ? kNonCoordinate.size() : 0));
      NMB_TRY(check_attributes(*block, v));
    }
    NMB_TRY(check_attributes(*block, kGlobal));
    if (!metadata.extension()) return true;
    constexpr Property::Number kWanted[] = {Property::Number::kLinks};
    NMB_ASSIGN(const std::vector<Property> properties,
               decode_properties(metadata.extension()->hdf5, kWanted));
    for (const Property& property : properties)
      for (const Link& link : property.links)
        NMB_TRY(check_name("link", joined_path(block->name, link.name), link.name, 0));
    return true;
  });
}

void NetcdfCheck::add(const LoadedBlock& written) {
  const Metadata& metadata = written.metadata;
  for (VarId v = 0; v < metadata.variable_count(); ++v) {
    if (metadata.variable(v).dimensions.empty() || !is_dimension_scale(metadata, v)) continue;
    const std::vector<std::int64_t> own = integers(metadata, v, kDimensionId, 1);
    const std::int64_t id = own.empty() || own[0] < 0 ? next_ : own[0];
    next_ = std::max(next_, id + 1);
    scales_[id] = joined_path(written.name, metadata.variable(v).name);
  }
}

Status NetcdfCheck::add_classic(const LoadedBlock& written, const LoadedBlock& source, bool plain) {
  add(written);
  const Metadata &metadata = written.metadata, &expected = source.metadata;
  NMB_ASSIGN(const auto above, form_.dimensions().dimensions_above(source));
  std::vector<std::string> dimensions;
  for (DimId d = 0; d < expected.dimension_count(); ++d)
    dimensions.push_back(above[d] ? above[d]->path
                                  : joined_path(source.name, expected.dimension(d).name));
  for (VarId v = 0; v < expected.variable_count(); ++v) {
    const Variable variable = expected.variable(v);
    const std::size_t rank = variable.dimensions.size();
    if (rank == 0) continue;
    const std::string path = joined_path(source.name, variable.name);
    std::optional<VarId> there = metadata.find_variable(joined_text(kNonCoordinate, variable.name));
    if (!there) there = metadata.find_variable(variable.name);
    if (!there) return seen_otherwise(path, "no such variable", "none");
    std::vector<std::string> names;
    for (const DimId d : variable.dimensions) names.push_back(dimensions[d]);
    const std::vector<std::string> paths = scale_paths(metadata, *there, rank);
    const bool is_scale = is_dimension_scale(metadata, *there);
    for (std::size_t i = 0; i < rank && !is_scale; ++i)
      if (paths[i] != "/" + names[i] &&
          !(plain && paths[i].empty() &&
            is_made_up(expected.dimension(variable.dimensions[i]).name)))
        return seen_otherwise(path, in_quotes(paths[i].substr(!paths[i].empty())), names[i]);
    const std::vector<std::int64_t> ids = integers(metadata, *there, kCoordinates, rank);
    if (!ids.empty()) uses_.push_back({path, ids, std::move(names)});
  }
  return {};
}

Status NetcdfCheck::check_numbers(const std::string& variable, const std::vector<std::int64_t>& ids,
                                  const std::vector<std::string>& paths) const {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto seen = scales_.find(ids[i]);
    if (seen == scales_.end())
      return seen_otherwise(variable, joined_text("no dimension with number ", ids[i]), paths[i]);
    if (seen->second != paths[i])
      return seen_otherwise(variable, "dimension " + in_quotes(seen->second), paths[i]);
  }
  return {};
}

Status NetcdfCheck::check_block(const std::shared_ptr<const LoadedBlock>& block) const {
  const LoadedBlock& source = *block;
  const DimensionIds& dimensions = form_.dimensions();
  std::shared_ptr<const LoadedBlock> written;
  for (VarId v = 0; v < source.metadata.variable_count(); ++v) {
    const std::size_t rank = source.metadata.variable(v).dimensions.size();
    const std::vector<std::int64_t> before = integers(source.metadata, v, kCoordinates, rank);
    if (rank == 0 || before.empty()) continue;
    if (!written) {
      NMB_ASSIGN(written, dimensions.renumbered(block));
    }
    const std::vector<std::int64_t> ids = integers(written->metadata, v, kCoordinates, rank);
    NMB_ASSIGN(const auto expected, dimensions.dimensions_of(source, v));
    std::vector<std::string> paths;
    bool is_told = true;  // if false, netCDF cannot read the source
    for (std::size_t i = 0; i < rank && is_told; ++i) {
      const auto seen = scales_.find(ids[i]);
      // If the source contradicts itself, netCDF must see the same dimension as in the source.
      const auto in_source = dimensions.in_source(source.name, before[i]);
      const bool as_before = seen != scales_.end() && in_source && in_source->path == seen->second;
      is_told = expected[i] || in_source;
      if (is_told) paths.push_back(as_before || !expected[i] ? in_source->path : expected[i]->path);
    }
    if (!is_told) continue;
    NMB_TRY(check_numbers(joined_path(source.name, source.metadata.variable(v).name), ids, paths));
  }
  return {};
}

Status NetcdfCheck::finish() const {
  for (const VariableDimensions& use : uses_)
    NMB_TRY(check_numbers(use.variable, use.ids, use.paths));
  return blocks_.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    if (entry.kind != static_cast<std::uint16_t>(Kind::kExtended) ||
        form_.dimensions().is_classic(entry.name))
      return true;
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, blocks_.block(entry));
    NMB_TRY(check_block(block));
    return true;
  });
}

}  // namespace nmb::hdf5
