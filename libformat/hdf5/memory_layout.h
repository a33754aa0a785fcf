// The sizes of values in the memory of the HDF5 library, which differ from their sizes in a block.
// In memory, a string of variable length is a pointer, a sequence is an hvl_t, and a reference has
// 8 or 12 bytes. In a block, each of them takes 16 bytes (spec/format.md, section 15.1). The
// padding of fields in a compound is the same in memory and in a block. The offset of a field
// differs by the differences in size of the fields before it.
#pragma once

#include <cstdint>

#include "nmb/extension.h"

namespace nmb::hdf5 {

// Returns the size of a value of `type` in the memory of the HDF5 library (H5Tget_size of a type in
// memory).
inline std::uint64_t memory_size(const TypeTable& types, Type type) {
  if (!TypeTable::is_extended(type) || !types.needs_heap(type)) return types.value_size(type);
  const ExtendedType& t = types.at(type);
  switch (t.type_class) {
    case TypeClass::kReference:
      return t.reference == ReferenceKind::kObject ? 8 : 12;
    case TypeClass::kString:
      return sizeof(char*);
    case TypeClass::kArray: {
      std::uint64_t size = memory_size(types, t.base);
      for (const std::uint64_t length : t.lengths) size *= length;
      return size;
    }
    case TypeClass::kCompound: {
      std::uint64_t more = 0;
      for (const ExtendedType::Field& field : t.fields)
        more += types.value_size(field.type) - memory_size(types, field.type);
      return t.size - more;
    }
    default:
      return t.size;  // a sequence, which is an hvl_t in memory
  }
}

// Returns the offset of a field in the memory of the HDF5 library.
inline std::uint64_t memory_offset(const TypeTable& types, const ExtendedType& compound,
                                   const ExtendedType::Field& field) {
  std::uint64_t more = 0;
  for (const ExtendedType::Field& before : compound.fields)
    if (before.offset < field.offset)
      more += types.value_size(before.type) - memory_size(types, before.type);
  return field.offset - more;
}

}  // namespace nmb::hdf5
