#include "view/block_dimensions.h"

#include <algorithm>
#include <array>

#include "encoding/dimension_messages.h"
#include "hdf5_types/netcdf_marks.h"
#include "model/paths.h"
#include "model/text.h"
#include "netcdf/shared_dimensions.h"
#include "wire/joined_text.h"

namespace nmb {

bool is_name_of_dimensions(std::string_view attribute) {
  constexpr std::array<std::string_view, 6> kReserved{kScaleClass,    kScaleName,   kList,
                                                      kReferenceList, kDimensionId, kCoordinates};
  return std::ranges::count(kReserved, attribute) > 0;
}

void BlockDimensions::find(const std::vector<std::optional<ViewDimension>>& above,
                           const std::vector<bool>& is_shown) {
  first_ = shared_.next_dimension;
  above_ = above;
  coordinates_.assign(shared_.dimensions ? metadata_.dimension_count() : 0, kGlobal);
  for (DimId id = 0; id < coordinates_.size(); ++id) {
    if (is_above(id)) {
      shared_.references.set(first_ + id, shared_.references.address(above_[id]->reference));
      continue;
    }
    const auto variable = metadata_.find_variable(metadata_.dimension(id).name);
    if (!variable || !is_shown[*variable]) continue;
    const Variable found = metadata_.variable(*variable);
    if (!found.dimensions.empty() && found.dimensions[0] == id) coordinates_[id] = *variable;
  }
  shared_.next_dimension += coordinates_.size();
}

void BlockDimensions::leave_out(VarId variable) {
  if (const auto dimension = dimension_of(variable)) coordinates_[*dimension] = kGlobal;
}

std::optional<DimId> BlockDimensions::dimension_of(VarId variable) const {
  const Variable v = metadata_.variable(variable);
  if (v.dimensions.empty() || v.dimensions[0] >= coordinates_.size() ||
      coordinates_[v.dimensions[0]] != variable)
    return std::nullopt;
  return v.dimensions[0];
}

std::string BlockDimensions::name_of(VarId variable) const {
  const std::string name(metadata_.variable(variable).name);
  const auto dimension = coordinates_.empty() ? std::nullopt : metadata_.find_dimension(name);
  const bool hides = dimension && !is_above(*dimension) && !dimension_of(variable);
  return hides ? joined_text(kNonCoordinate, name) : name;
}

std::uint64_t BlockDimensions::length(DimId id) const {
  const Dimension dimension = metadata_.dimension(id);
  return dimension.is_record() ? entry_.records : dimension.length;
}

Status BlockDimensions::too_long(std::string_view kind, std::string_view name) const {
  return failure(Code::kUnsupported, "HDF5 view: ", kind, " \"",
                 printable(joined_path(entry_.name, name)),
                 "\": found an attribute with its name and values of more than 65535 bytes, "
                 "expected at most 65535 bytes in an HDF5 message");
}

Status BlockDimensions::add_attributes(VarId id) {
  const Variable variable = metadata_.variable(id);
  const std::size_t rank = coordinates_.empty() ? 0 : variable.dimensions.size();
  const std::optional<DimId> dimension = dimension_of(id);
  if (!dimension) add_attribute_info(header_, (rank > 0 ? 1 : 0) + metadata_.attribute_count(id));
  if (dimension) NMB_TRY(add_scale(variable.name, variable.name.size() + 1, *dimension));
  if (rank > 0 && (!dimension || rank > 1)) NMB_TRY(add_coordinates(variable));
  if (rank > 0 && !dimension) NMB_TRY(add_dimension_list(variable));
  return {};
}

void BlockDimensions::place(VarId variable, std::uint64_t address) {
  if (const auto dimension = dimension_of(variable))
    shared_.references.set(first_ + *dimension, address);
}

Status BlockDimensions::encode(LinkList* links) {
  for (DimId id = 0; id < coordinates_.size(); ++id)
    if (coordinates_[id] == kGlobal && !is_above(id)) NMB_TRY(encode_dimension(id, links));
  return {};
}

// Encodes a dimension without a variable as a data set without values.
Status BlockDimensions::encode_dimension(DimId id, LinkList* links) {
  const std::string_view name = metadata_.dimension(id).name;
  const std::uint64_t count = length(id);
  constexpr std::uint64_t kMostLength = std::uint64_t{1} << 60;
  if (count > kMostLength)
    return failure(Code::kUnsupported, "HDF5 view: dimension \"",
                   printable(joined_path(entry_.name, name)), "\": found length ", count,
                   ", expected at most ", kMostLength);
  header_.start();
  add_dimension_messages(header_, count, may_grow(metadata_, id));
  const std::string text = text_of_dimension(count);
  NMB_TRY(add_scale(text, text.size() + 1, id));
  NMB_ASSIGN(const std::uint64_t address, shared_.out.append(header_.finish()));
  shared_.references.set(first_ + id, address);
  links->add(name, address);
  return {};
}

std::vector<ViewDimension> BlockDimensions::own() const {
  std::vector<ViewDimension> dimensions;
  for (DimId id = 0; id < coordinates_.size(); ++id)
    if (!is_above(id))
      dimensions.push_back({std::string(metadata_.dimension(id).name), length(id),
                            may_grow(metadata_, id), number_of(id), first_ + id});
  return dimensions;
}

Status BlockDimensions::add_scale(std::string_view name, std::uint64_t text_bytes, DimId id) {
  if (add_scale_attributes(header_, name, text_bytes, number_of(id))) return {};
  return too_long("dimension", metadata_.dimension(id).name);
}

Status BlockDimensions::add_coordinates(const Variable& variable) {
  header_.begin(HeaderMessage::kAttribute);
  Hdf5Bytes& out = header_.bytes();
  put_attribute_prefix(out, kCoordinates, 12, 12);
  put_int32_type(out);
  const std::uint64_t rank = variable.dimensions.size();
  put_simple_space(out, std::span(&rank, 1));
  for (const DimId dimension : variable.dimensions) out.put32(number_of(dimension));
  return header_.end() ? Status() : too_long("variable", variable.name);
}

Status BlockDimensions::add_dimension_list(const Variable& variable) {
  header_.begin(HeaderMessage::kAttribute);
  Hdf5Bytes& out = header_.bytes();
  put_attribute_prefix(out, kList, 16, 12);
  put_reference_list_type(out);
  const std::uint64_t rank = variable.dimensions.size();
  put_simple_space(out, std::span(&rank, 1));
  for (const DimId dimension : variable.dimensions)
    shared_.references.put_sequence(out, first_ + dimension);
  return header_.end() ? Status() : too_long("variable", variable.name);
}

}  // namespace nmb
