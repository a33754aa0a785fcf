// ClassicType: what a type of a block's own becomes in classic netCDF, and its values with it
// (docs/hdf5.md, "To classic netCDF").
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
  // Of strings of fixed length: characters of a value, along a dimension more. 0: a number or one
  // character.
  std::uint64_t characters = 0;
  // The values stay the same, the type does not: numbers of an enum, or of a size that classic
  // netCDF does not have.
  bool is_changed = false;

  // Bytes of what one value of the block's type becomes.
  std::uint64_t value_bytes() const { return characters > 0 ? characters : type_size(type); }
};

// type: one that has(). nullopt: classic netCDF has nothing that holds all values of it. Strings of
// variable length are none of these.
std::optional<ClassicType> classic_type(const TypeTable& types, Type type);

// Turns values of one type into what they become.
class ClassicValues {
 public:
  ClassicValues(const TypeTable& types, Type from, const ClassicType& to);
  std::uint64_t from_bytes() const { return from_bytes_; }  // of a value
  // values: whole ones, at least as many as `out` has room for.
  void convert(std::span<const std::byte> values, std::span<std::byte> out) const;
  ValueConversion conversion() const;

 private:
  ExtendedType form_;  // of the number, where is_changed
  ClassicType to_;
  std::uint64_t from_bytes_;
  bool swapped_;
};

}  // namespace nmb
