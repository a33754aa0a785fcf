#include "sources/type_widening.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "model/values.h"
#include "sources/value_source.h"
#include "wire/swap_values.h"

namespace nmb {

namespace {

struct Integer {
  Type type;
  MemoryType memory;
  unsigned bits;
  bool is_signed;
};

// The integer types, ordered from narrow to wide.
constexpr std::array<Integer, 8> kIntegers{{
    {Type::kByte, MemoryType::kInt8, 8, true},
    {Type::kUByte, MemoryType::kUInt8, 8, false},
    {Type::kShort, MemoryType::kInt16, 16, true},
    {Type::kUShort, MemoryType::kUInt16, 16, false},
    {Type::kInt, MemoryType::kInt32, 32, true},
    {Type::kUInt, MemoryType::kUInt32, 32, false},
    {Type::kInt64, MemoryType::kInt64, 64, true},
    {Type::kUInt64, MemoryType::kUInt64, 64, false},
}};

bool holds(const Integer& wide, const Integer& other) {
  if (wide.is_signed == other.is_signed) return wide.bits >= other.bits;
  return wide.is_signed && wide.bits > other.bits;
}

MemoryType memory_of(Type type) {
  if (type == Type::kFloat) return MemoryType::kFloat;
  if (type == Type::kDouble) return MemoryType::kDouble;
  return std::ranges::find(kIntegers, type, &Integer::type)->memory;
}

// Converts as many values as fit into `out`.
void widen(std::span<const std::byte> values, Type from, Type to, std::span<std::byte> out) {
  const std::size_t size = type_size(to), count = out.size() / size;
  convert_from_external(from, values.data(), count, memory_of(to), out.data());
  if constexpr (std::endian::native == std::endian::little)
    swap_values(out.data(), out.data(), count, size);
}

}  // namespace

std::optional<Type> narrowest_type(TypeSet types) {
  if (std::has_single_bit(types)) return static_cast<Type>(std::countr_zero(types));
  if (types & type_bit(Type::kChar)) return std::nullopt;
  unsigned widest = 0;  // bits of integers
  for (const Integer& integer : kIntegers)
    if (types & type_bit(integer.type)) widest = std::max(widest, integer.bits);
  if (types & (type_bit(Type::kFloat) | type_bit(Type::kDouble))) {
    if (!(types & type_bit(Type::kDouble)) && widest <= 16) return Type::kFloat;
    return widest <= 32 ? std::optional(Type::kDouble) : std::nullopt;
  }
  for (const Integer& wide : kIntegers)
    if (std::ranges::all_of(kIntegers, [&](const Integer& other) {
          return !(types & type_bit(other.type)) || holds(wide, other);
        }))
      return wide.type;
  return std::nullopt;
}

std::vector<std::byte> widened_values(std::span<const std::byte> values, Type from, Type to) {
  std::vector<std::byte> out(values.size() / type_size(from) * type_size(to));
  widen(values, from, to, out);
  return out;
}

ValueConversion widening(Widening how) {
  ValueConversion conversion;
  conversion.widening = how;
  conversion.from_bytes = type_size(how.from);
  conversion.to_bytes = type_size(how.to);
  const bool maps = how.maps_fill && conversion.from_bytes > 1;
  const std::vector<std::byte> fill = default_fill_value(how.from),
                               wide = default_fill_value(how.to);
  conversion.convert = [=](std::span<const std::byte> values, std::span<std::byte> out) {
    widen(values, how.from, how.to, out);
    if (!maps) return;
    const std::byte* value = values.data();
    for (std::byte* at = out.data(); at < out.data() + out.size();
         at += wide.size(), value += fill.size())
      if (std::memcmp(value, fill.data(), fill.size()) == 0)
        std::memcpy(at, wide.data(), wide.size());
  };
  return conversion;
}

}  // namespace nmb
