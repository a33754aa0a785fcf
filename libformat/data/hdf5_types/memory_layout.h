// Computes the sizes of values in the memory of the HDF5 library, where a string of variable length
// is a pointer, a sequence is an hvl_t, and a reference has 8 or 12 bytes. In a block, each of
// these takes 16 bytes (spec/extended.md, section 15.1). In an HDF5 file, values have the same
// sizes as in memory, except that a string of variable length takes 16 bytes. A compound has the
// same padding everywhere, so the offset of a field differs only by the sizes of the fields before
// it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "model/extension.h"

namespace nmb::hdf5 {

// The size in bytes of a string of variable length, in memory and in an HDF5 file.
inline constexpr std::uint64_t kStringInMemory = sizeof(char*), kStringInFile = 16;

// Returns the size of a value of `type` in the memory of the HDF5 library, as H5Tget_size gives it
// for a memory type. With kStringInFile as `string`, returns the size in an HDF5 file.
inline std::uint64_t memory_size(const TypeTable& types, Type type,
                                 std::uint64_t string = kStringInMemory) {
  if (!TypeTable::is_extended(type) || !types.needs_heap(type)) return types.value_size(type);
  const ExtendedType& t = types.at(type);
  switch (t.type_class) {
    case TypeClass::kReference:
      return t.reference == ReferenceKind::kObject ? 8 : 12;
    case TypeClass::kString:
      return string;
    case TypeClass::kArray: {
      std::uint64_t size = memory_size(types, t.base, string);
      for (const std::uint64_t length : t.lengths) size *= length;
      return size;
    }
    case TypeClass::kCompound: {
      std::uint64_t more = 0;
      for (const ExtendedType::Field& field : t.fields)
        more += types.value_size(field.type) - memory_size(types, field.type, string);
      return t.size - more;
    }
    default:
      return t.size;  // a sequence, which is an hvl_t in memory
  }
}

// Returns the offset of a field in the memory of the HDF5 library or, with kStringInFile as
// `string`, in an HDF5 file.
inline std::uint64_t memory_offset(const TypeTable& types, const ExtendedType& compound,
                                   const ExtendedType::Field& field,
                                   std::uint64_t string = kStringInMemory) {
  std::uint64_t more = 0;
  for (const ExtendedType::Field& before : compound.fields)
    if (before.offset < field.offset && TypeTable::is_extended(before.type))
      more += types.value_size(before.type) - memory_size(types, before.type, string);
  return field.offset - more;
}

struct MemoryFields {
  std::vector<std::uint64_t> offsets;  // memory_offset() of each field
  // A field that begins before the end of another field, or nullptr. Such a field cannot move when
  // fields before it have other sizes.
  const ExtendedType::Field* overlapping = nullptr;
};

// Returns the offsets of all fields. Time: n log n for n fields.
inline MemoryFields memory_fields(const TypeTable& types, const ExtendedType& compound,
                                  std::uint64_t string = kStringInMemory) {
  const std::vector<ExtendedType::Field>& fields = compound.fields;
  std::vector<std::size_t> order(fields.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return fields[i].offset; });
  MemoryFields out{std::vector<std::uint64_t>(fields.size())};
  std::uint64_t more = 0, end = 0;  // `end`: end of the field before, in a block
  for (const std::size_t i : order) {
    const std::uint64_t size = types.value_size(fields[i].type);
    if (fields[i].offset < end && !out.overlapping) out.overlapping = &fields[i];
    out.offsets[i] = fields[i].offset - more;
    end = fields[i].offset + size;
    more += size - memory_size(types, fields[i].type, string);
  }
  return out;
}

}  // namespace nmb::hdf5
