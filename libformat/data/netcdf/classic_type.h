// ClassicType: the classic netCDF type to which a type of a block is converted
// (docs/reference/hdf5.md, "To classic netCDF").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/extension.h"
#include "sources/value_source.h"

namespace nmb {

struct ClassicType {
  Type type = Type::kByte;
  // Number of characters in one value if the type is a string of fixed length; an additional
  // dimension stores them. 0 if a value is a number or a single character.
  std::uint64_t characters = 0;
  // Whether the type changes although the values stay the same. This is so for the numbers of an
  // enum, and for numbers of a size that classic netCDF does not have.
  bool is_changed = false;

  // Returns the size of one converted value in bytes.
  std::uint64_t value_bytes() const { return characters > 0 ? characters : type_size(type); }
};

// Returns the classic type for `type`, or nullopt if no classic type holds all its values or if it
// is a string of variable length. types.has(type) must be true.
std::optional<ClassicType> classic_type(const TypeTable& types, Type type);

// Converts values of one type to the corresponding classic type.
class ClassicValues {
 public:
  ClassicValues(const TypeTable& types, Type from, const ClassicType& to);
  std::uint64_t from_bytes() const { return from_bytes_; }  // size of one value before conversion
  // values: whole values, at least as many as fit into `out`.
  void convert(std::span<const std::byte> values, std::span<std::byte> out) const;
  ValueConversion conversion() const;

 private:
  ExtendedType form_;  // number format before conversion, set if is_changed
  ClassicType to_;
  std::uint64_t from_bytes_;
  bool swapped_;
};

}  // namespace nmb
