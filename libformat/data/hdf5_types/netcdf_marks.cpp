#include "hdf5_types/netcdf_marks.h"

#include <algorithm>

#include "model/heap_value.h"
#include "wire/endian.h"

namespace nmb {

bool is_made_up(std::string_view dimension) {
  constexpr std::string_view kPhony = "phony_dim_";
  return dimension.starts_with(kPhony) && dimension.size() > kPhony.size() &&
         dimension.find_first_not_of("0123456789", kPhony.size()) == dimension.npos;
}

std::string_view fixed_text(const Metadata& metadata, VarId owner, std::string_view name) {
  const std::optional<Attribute> a = metadata.find_attribute(owner, name);
  if (!a || !TypeTable::is_extended(a->type) || a->count != 1) return {};
  const ExtendedType& type = metadata.extension()->types.at(a->type);
  if (type.type_class != TypeClass::kString || type.variable_length) return {};
  const std::string_view text(reinterpret_cast<const char*>(a->values.data()), a->values.size());
  return text.substr(0, text.find('\0'));
}

bool is_dimension_scale(const Metadata& metadata, VarId variable) {
  return fixed_text(metadata, variable, "CLASS") == "DIMENSION_SCALE";
}

std::vector<std::int64_t> integers(const Metadata& metadata, VarId owner, std::string_view name) {
  const std::optional<Attribute> a = metadata.find_attribute(owner, name);
  if (!a) return {};
  const TypeTable& types = metadata.extension()->types;
  if (types.classic(a->type) != Type::kInt) return {};
  const bool swapped = types.is_swapped(a->type);
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < a->count; ++i) {
    const std::byte* at = a->values.data() + i * 4;
    values.push_back(static_cast<std::int32_t>(swapped ? load_le<std::uint32_t>(at)
                                                       : load_be<std::uint32_t>(at)));
  }
  return values;
}

std::vector<std::int64_t> integers(const Metadata& metadata, VarId owner, std::string_view name,
                                   std::size_t count) {
  std::vector<std::int64_t> values = integers(metadata, owner, name);
  if (values.size() != count) values.clear();
  return values;
}

bool is_list(const Metadata& metadata, const Attribute& a) {
  const TypeTable& types = metadata.extension()->types;
  if (!TypeTable::is_extended(a.type) || types.at(a.type).type_class != TypeClass::kVlen)
    return false;
  const Type base = types.at(a.type).base;
  return TypeTable::is_extended(base) && types.at(base).type_class == TypeClass::kReference &&
         types.at(base).reference == ReferenceKind::kObject;
}

std::vector<std::vector<std::string>> scale_lists(const Metadata& metadata, VarId variable,
                                                  std::size_t rank, std::uint64_t most) {
  std::vector<std::vector<std::string>> lists(rank);
  const std::optional<Attribute> a = metadata.find_attribute(variable, kList);
  if (!a || a->count != rank || !is_list(metadata, *a)) return lists;
  const MemorySource region(a->values);
  std::uint64_t left = a->values.size();
  for (std::size_t i = 0; i < rank; ++i) {
    HeapValue list = HeapValue::load(a->values.data() + i * TypeTable::kHeapValue);
    list.count = std::min<std::uint64_t>(list.count, most);
    const Result<std::vector<std::byte>> references =
        list.read(region, TypeTable::kHeapValue, &left);
    if (!references.ok()) continue;
    for (std::size_t at = 0; at < references->size(); at += TypeTable::kHeapValue) {
      const Result<std::vector<std::byte>> path =
          HeapValue::load(references->data() + at).read(region, 1, &left);
      if (path.ok())
        lists[i].emplace_back(reinterpret_cast<const char*>(path->data()), path->size());
    }
  }
  return lists;
}

std::vector<std::string> scale_paths(const Metadata& metadata, VarId variable, std::size_t rank) {
  std::vector<std::string> paths;
  for (std::vector<std::string>& list : scale_lists(metadata, variable, rank, 1))
    paths.push_back(list.empty() ? std::string() : std::move(list.front()));
  return paths;
}

bool is_dimension_only(const Metadata& metadata, VarId variable) {
  return metadata.extension() && is_dimension_scale(metadata, variable) &&
         fixed_text(metadata, variable, "NAME").starts_with(kNotAVariable);
}

void count_objects(const Metadata& metadata, BlockCounts* counts) {
  counts->dimensions = metadata.dimension_count();
  counts->variables = metadata.variable_count();
  counts->attributes = metadata.attribute_count();
  if (!metadata.extension()) return;
  for (VarId v = 0; v < metadata.variable_count(); ++v)
    if (is_dimension_only(metadata, v)) --counts->variables;
}

}  // namespace nmb
