#include "merge/uniting/decomposition.h"

#include <algorithm>
#include <array>
#include <vector>

#include "dump/value_text.h"
#include "model/values.h"

namespace nmb {

namespace {

constexpr std::string_view kFilesInSet = "NumFilesInSet";

std::optional<VarId> variable_named_as(const Metadata& metadata, DimId dimension) {
  return metadata.find_variable(metadata.dimension(dimension).name);
}

}  // namespace

std::optional<Decomposition> decomposition_of(const Metadata& metadata, DimId dimension,
                                              std::uint64_t records) {
  const auto coordinate = variable_named_as(metadata, dimension);
  if (!coordinate) return std::nullopt;
  const auto attribute = metadata.find_attribute(*coordinate, kDecompositionAttribute);
  if (!attribute) return std::nullopt;
  Decomposition found;
  const auto wrong = [&](const char* expected) {
    found.found = std::string(kDecompositionAttribute) + " = " + value_text(*attribute);
    found.expected = expected;
    return found;
  };
  std::array<std::int64_t, 4> bounds{};
  const bool is_integer = attribute->type != Type::kChar && attribute->type != Type::kFloat &&
                          attribute->type != Type::kDouble &&
                          !TypeTable::is_extended(attribute->type);
  if (!is_integer || attribute->count != bounds.size() ||
      convert_from_external(attribute->type, attribute->values.data(), bounds.size(),
                            MemoryType::kInt64, bounds.data()) > 0)
    return wrong("four integers");
  const auto [whole_first, whole_last, first, last] = bounds;
  if (whole_first > first || first > last || last > whole_last)
    return wrong("first and last index of the whole dimension, then of a part of it");
  const auto distance = [](std::int64_t from, std::int64_t to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  };
  found = {distance(whole_first, whole_last) + 1, distance(whole_first, first),
           distance(first, last) + 1};
  const Dimension is = metadata.dimension(dimension);
  if (found.count != (is.is_record() ? records : is.length) || found.length >= kUnlimited / 2)
    return wrong("a part with the length of the dimension");
  return found;
}

bool has_decomposition(const Metadata& metadata) {
  for (DimId id = 0; id < metadata.dimension_count(); ++id)
    if (const auto coordinate = variable_named_as(metadata, id))
      if (metadata.find_attribute(*coordinate, kDecompositionAttribute)) return true;
  return false;
}

bool is_iceberg(const Metadata& metadata) {
  return metadata.record_dimension() && !has_decomposition(metadata) &&
         metadata.find_attribute(kGlobal, kFilesInSet) && has_version_of_icebergs(metadata);
}

bool has_version_of_icebergs(const Metadata& metadata) {
  return metadata.find_attribute(kGlobal, "file_format_major_version").has_value();
}

std::optional<std::int64_t> files_in_set(const Metadata& metadata) {
  const auto attribute = metadata.find_attribute(kGlobal, kFilesInSet);
  if (!attribute) return std::nullopt;
  std::vector<std::byte> value(attribute->values.begin(), attribute->values.end());
  std::optional<Type> type = attribute->type;
  if (TypeTable::is_extended(*type)) {
    const TypeTable& types = metadata.extension()->types;
    if (types.is_swapped(*type)) std::ranges::reverse(value);
    type = types.classic(*type);
  }
  std::int64_t count = 0;
  if (!type || *type == Type::kChar || attribute->count != 1 ||
      convert_from_external(*type, value.data(), 1, MemoryType::kInt64, &count) > 0 || count < 1)
    return -1;
  return count;
}

std::optional<VarId> gathered_variable(const Metadata& metadata) {
  for (VarId id = 0; id < metadata.variable_count(); ++id) {
    const Variable variable = metadata.variable(id);
    if (variable.dimensions.size() == 1 &&
        metadata.dimension(variable.dimensions[0]).name == variable.name &&
        metadata.find_attribute(id, "compress"))
      return id;
  }
  return std::nullopt;
}

bool tells_part(bool of_block, std::string_view attribute) {
  return of_block ? attribute == kFilesInSet || attribute == "filename"
                  : attribute == kDecompositionAttribute;
}

}  // namespace nmb
