// ClassicType: the type and values of classic netCDF to which a type that a block defines is
// converted (docs/hdf5.md, "To classic netCDF").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nmb/extension.h"
#include "values/array_source.h"

namespace nmb {

struct ClassicType {
  Type type = Type::kByte;
  // For strings of fixed length: characters of one value, stored along an additional dimension. 0:
  // a number or one character.
  std::uint64_t characters = 0;
  // The values stay the same but the type changes: numbers of an enum, or numbers of a size that
  // classic netCDF does not have.
  bool is_changed = false;

  // Returns the size of one converted value in bytes.
  std::uint64_t value_bytes() const { return characters > 0 ? characters : type_size(type); }
};

// type: one for which has() is true. nullopt: no classic type holds all values of the type. That
// includes strings of variable length.
std::optional<ClassicType> classic_type(const TypeTable& types, Type type);

// Converts values of one type to its classic type.
class ClassicValues {
 public:
  ClassicValues(const TypeTable& types, Type from, const ClassicType& to);
  std::uint64_t from_bytes() const { return from_bytes_; }  // size of one value before conversion
  // values: whole values, at least as many as `out` has room for.
  void convert(std::span<const std::byte> values, std::span<std::byte> out) const;
  ValueConversion conversion() const;

 private:
  ExtendedType form_;  // form of the number, if is_changed
  ClassicType to_;
  std::uint64_t from_bytes_;
  bool swapped_;
};

}  // namespace nmb
