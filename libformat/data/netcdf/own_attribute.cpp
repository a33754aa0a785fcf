#include "netcdf/own_attribute.h"

#include <algorithm>
#include <utility>

#include "model/extension_codec.h"
#include "model/heap_value.h"
#include "wire/endian.h"
#include "wire/items.h"

namespace nmb {

namespace {

constexpr const char* kRule = "";

// Returns the values of an attribute with the bytes to which they refer in the order of the values.
Result<std::vector<std::byte>> in_order(const TypeTable& types, const Attribute& attribute) {
  const auto places = heap_places(types, attribute.type);
  const std::uint64_t size = types.value_size(attribute.type);
  const MemorySource region(attribute.values);
  std::vector<std::byte> values(
      attribute.values.begin(),
      attribute.values.begin() + static_cast<std::ptrdiff_t>(size * attribute.count));
  std::uint64_t left = attribute.values.size();
  for (std::uint64_t i = 0; i < attribute.count && places; ++i)
    for (const HeapPlace& place : *places) {
      const std::uint64_t at = i * size + place.offset;
      const HeapValue value = HeapValue::load(values.data() + at);
      NMB_ASSIGN(const std::vector<std::byte> elements,
                 value.read(region, place.element_bytes, &left));
      store_le(values.data() + at, value.is_null() ? std::uint64_t{0} : value.count);
      store_le(values.data() + at + 8, value.is_null() ? 0 : std::uint64_t{values.size()});
      values.insert(values.end(), elements.begin(), elements.end());
    }
  return values;
}

}  // namespace

Result<std::vector<std::byte>> encode_own(const TypeTable& types, const Attribute& attribute) {
  std::vector<std::byte> out;
  std::vector<std::byte> own;
  append_types(types.only(attribute.type), &own);
  ItemsOut to(&out);
  to.put(std::uint64_t{own.size()}, attribute.count);
  to.put(std::span<const std::byte>(own));
  NMB_ASSIGN(const std::vector<std::byte> values, in_order(types, attribute));
  to.put(std::span<const std::byte>(values));
  return out;
}

Result<OwnAttributeValues> decode_own(std::span<const std::byte> encoded) {
  ItemsIn in(encoded, 0);
  const auto length = in.number<std::uint64_t>(kRule);
  OwnAttributeValues out;
  out.count = in.number<std::uint64_t>(kRule);
  const auto types = in.take(length, kRule);
  const auto values = in.take(in.remaining(), kRule);
  if (!in.ok()) return in.status();
  NMB_ASSIGN(out.types, decode_types(types));
  if (out.types.size() == 0) return Status(Code::kDamaged, "found an attribute without a type");
  out.values.assign(values.begin(), values.end());
  return out;
}

bool is_same_own(std::span<const std::byte> a, std::span<const std::byte> b) {
  if (std::ranges::equal(a, b)) return true;
  const auto one = decode_own(a), other = decode_own(b);
  constexpr auto kDropped = TypeTable::Names::kDropped;
  return one.ok() && other.ok() && one->count == other->count && one->values == other->values &&
         one->types.only(one->types.last(), kDropped) ==
             other->types.only(other->types.last(), kDropped);
}

}  // namespace nmb
