// Names that netCDF can read (see interop/netcdf_names.h).
#include "interop/netcdf_names.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "block/name_rules.h"
#include "interop/netcdf_marks.h"
#include "interop/shared_dimensions.h"
#include "nmb/hdf5_section.h"

namespace nmb::hdf5 {

namespace {

Status check(std::string_view kind, std::string_view name, const std::string& block) {
  if (name.size() <= kMaxNetcdfNameBytes) return {};
  return Status(Code::kUnsupported,
                "block " + in_quotes(block) + ": " + std::string(kind) + " " + in_quotes(name) +
                    ": found a name of " + std::to_string(name.size()) +
                    " bytes, expected at most " + std::to_string(kMaxNetcdfNameBytes) +
                    ", as netCDF programs read no longer ones; an output of kind hdf5 may have it");
}

Status check_groups(const std::string& block) {
  for (std::size_t begin = 0; begin < block.size();) {
    const std::size_t end = std::min(block.find('/', begin), block.size());
    NMB_TRY(check("group", std::string_view(block).substr(begin, end - begin), block));
    begin = end + 1;
  }
  return {};
}

Status check_attributes(const Metadata& metadata, std::uint32_t owner, const std::string& block) {
  Status status;
  metadata.for_each_attribute(owner, [&](const Attribute& attribute) {
    if (status.ok()) status = check("attribute", attribute.name, block);
  });
  return status;
}

Status check_classic(const Metadata& metadata, const std::string& block) {
  for (DimId d = 0; d < metadata.dimension_count(); ++d)
    NMB_TRY(check("dimension", metadata.dimension(d).name, block));
  for (VarId v = 0; v < metadata.variable_count(); ++v) {
    const Variable variable = metadata.variable(v);
    const auto dimension = metadata.find_dimension(variable.name);
    const bool hidden =
        dimension && (variable.dimensions.empty() || variable.dimensions[0] != *dimension);
    NMB_TRY(check("variable",
                  (hidden ? std::string(kNonCoordinate) : "") + std::string(variable.name), block));
  }
  return {};
}

Status check_extended(const Metadata& metadata, const std::string& block) {
  for (VarId v = 0; v < metadata.variable_count(); ++v)
    NMB_TRY(check("variable", metadata.variable(v).name, block));
  constexpr Property::Number kWanted[] = {Property::Number::kLinks};
  NMB_ASSIGN(const std::vector<Property> properties,
             decode_properties(metadata.extension()->hdf5, kWanted));
  for (const Property& property : properties)
    for (const Link& link : property.links) NMB_TRY(check("link", link.name, block));
  return {};
}

}  // namespace

Status check_netcdf_names(const Reader& reader) {
  return reader.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    NMB_TRY(check_groups(entry.name));
    NMB_ASSIGN(const std::shared_ptr<const Block> block, reader.block(entry));
    const Metadata& metadata = block->metadata;
    NMB_TRY(is_classic_dataset(metadata) ? check_classic(metadata, entry.name)
                                         : check_extended(metadata, entry.name));
    NMB_TRY(check_attributes(metadata, kGlobal, entry.name));
    for (VarId v = 0; v < metadata.variable_count(); ++v)
      NMB_TRY(check_attributes(metadata, v, entry.name));
    return true;
  });
}

}  // namespace nmb::hdf5
