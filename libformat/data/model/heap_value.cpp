#include "model/heap_value.h"

#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

Result<std::uint64_t> HeapValue::take(std::uint64_t region, std::uint64_t size,
                                      std::uint64_t* left) const {
  std::uint64_t bytes = 0;
  if (is_null()) return bytes;
  if (!checked_mul(count, size, &bytes) || offset > region || bytes > region - offset)
    return Status(Code::kDamaged, {}, kNoOffset, "R-XV-1",
                  joined_text("found a value that refers to ", bytes, " bytes at offset ", offset,
                              "; the length of the region is ", region));
  if (bytes > *left)
    return Status(Code::kDamaged, {}, kNoOffset, "R-XV-2",
                  joined_text("found values that together refer to more than the ", region,
                              " bytes of the region"));
  *left -= bytes;
  return bytes;
}

Result<std::vector<std::byte>> HeapValue::read(const ByteSource& region, std::uint64_t size,
                                               std::uint64_t* left) const {
  NMB_ASSIGN(const std::uint64_t bytes, take(region.size(), size, left));
  std::vector<std::byte> out(bytes);
  if (bytes > 0) NMB_TRY(region.read_at(offset, out));
  return out;
}

namespace {

constexpr std::size_t kMostPlaces = 4096;

bool add_places(const TypeTable& types, Type type, std::uint64_t offset,
                std::vector<HeapPlace>* places) {
  if (!types.needs_heap(type)) return true;
  const ExtendedType& own = types.at(type);
  switch (own.type_class) {
    case TypeClass::kString:
      places->push_back({offset, 1});
      return places->size() <= kMostPlaces;
    case TypeClass::kVlen:
      places->push_back({offset, types.value_size(own.base)});
      return !types.needs_heap(own.base) && places->size() <= kMostPlaces;
    case TypeClass::kArray: {
      const std::uint64_t size = types.value_size(own.base);
      for (std::uint64_t at = 0; at < own.size; at += size)
        if (!add_places(types, own.base, offset + at, places)) return false;
      return true;
    }
    case TypeClass::kCompound:
      for (const ExtendedType::Field& field : own.fields)
        if (!add_places(types, field.type, offset + field.offset, places)) return false;
      return true;
    default:
      return false;
  }
}

}  // namespace

std::optional<std::vector<HeapPlace>> heap_places(const TypeTable& types, Type type) {
  std::vector<HeapPlace> places;
  if (!add_places(types, type, 0, &places)) return std::nullopt;
  return places;
}

}  // namespace nmb
