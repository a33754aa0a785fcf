#include "import/scales_in.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

namespace nmb::hdf5 {

namespace {

constexpr std::int64_t kMostNumber = std::numeric_limits<std::int32_t>::max();

const AttributeIn* find(const std::vector<AttributeIn>& attributes, std::string_view name) {
  const auto found = std::ranges::find(attributes, name, &AttributeIn::name);
  return found == attributes.end() ? nullptr : &*found;
}

// Returns the values of an attribute with `count` integers. The integers may have any size and byte
// order that netCDF writes.
std::vector<std::int64_t> integers_of(const AttributeIn* attribute, const TypeTable& types,
                                      std::size_t count) {
  if (!attribute || attribute->count != count) return {};
  const std::size_t size = types.value_size(attribute->type);
  bool little = false, is_signed = true;
  if (TypeTable::is_extended(attribute->type)) {
    const ExtendedType& type = types.at(attribute->type);
    if (type.type_class != TypeClass::kInteger || size > 8 || type.bit_offset != 0 ||
        type.precision != 8 * size || type.order == ByteOrder::kVax)
      return {};
    little = type.order == ByteOrder::kLittle;
    is_signed = type.is_signed;
  } else {
    switch (attribute->type) {
      case Type::kByte:
      case Type::kShort:
      case Type::kInt:
      case Type::kInt64:
        break;
      case Type::kUByte:
      case Type::kUShort:
      case Type::kUInt:
      case Type::kUInt64:
        is_signed = false;
        break;
      default:
        return {};
    }
  }
  std::vector<std::int64_t> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* from = attribute->values.data() + i * size;
    const std::byte high = from[little ? size - 1 : 0];
    std::uint64_t value = is_signed && (high & std::byte{0x80}) != std::byte{0} ? ~0ull : 0;
    for (std::size_t b = 0; b < size; ++b)
      value = value << 8 | std::to_integer<std::uint64_t>(from[little ? size - 1 - b : b]);
    values[i] = static_cast<std::int64_t>(value);
  }
  return values;
}

bool is_scale(const std::vector<AttributeIn>& attributes, const TypeTable& types) {
  constexpr std::string_view kScale = "DIMENSION_SCALE";
  const AttributeIn* const attribute = find(attributes, "CLASS");
  if (!attribute || attribute->count != 1 || !TypeTable::is_extended(attribute->type)) return false;
  const ExtendedType& type = types.at(attribute->type);
  if (type.type_class != TypeClass::kString || type.variable_length) return false;
  const auto* text = reinterpret_cast<const char*>(attribute->values.data());
  return std::string_view(text, strnlen(text, attribute->values.size())) == kScale;
}

}  // namespace

std::vector<std::string> scales_of(FileIn& file, const std::string& path,
                                   const std::vector<AttributeIn>& attributes,
                                   const TypeTable& types, std::size_t rank) {
  std::vector<std::string> paths(rank);
  if (rank == 0) return paths;
  if (is_scale(attributes, types)) {
    const std::vector<std::int64_t> number =
        integers_of(find(attributes, "_Netcdf4Dimid"), types, 1);
    const bool has_number = !number.empty() && number.front() >= 0 && number.front() <= kMostNumber;
    const std::int64_t id = has_number ? number.front() : file.next_scale;
    file.next_scale = std::max(file.next_scale, id + 1);
    file.scales.emplace(id, path);
    if (rank == 1) return {path};
  }
  if (const AttributeIn* const list = find(attributes, kDimensionList)) {
    if (list->scales.size() == rank) paths = list->scales;
    return paths;
  }
  const std::vector<std::int64_t> numbers =
      integers_of(find(attributes, "_Netcdf4Coordinates"), types, rank);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (const auto found = file.scales.find(numbers[i]); found != file.scales.end())
      paths[i] = found->second;
  return paths;
}

}  // namespace nmb::hdf5
