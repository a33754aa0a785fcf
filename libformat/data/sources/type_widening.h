// Converts numbers of several types to one type that holds all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sources/value_source.h"
#include "wire/kinds.h"

namespace nmb {

// A set of types, one bit for each.
using TypeSet = std::uint32_t;
constexpr TypeSet type_bit(Type type) { return TypeSet{1} << static_cast<unsigned>(type); }

// Returns the narrowest type that holds every value of all these types. Integer types come first,
// then float, which holds integers of 16 bits, and then double, which holds integers of 32 bits.
// Returns nullopt if no type holds all values, or if kChar is one of several types.
std::optional<Type> narrowest_type(TypeSet types);

// Converts values in external form. to: a type that holds all of them.
std::vector<std::byte> widened_values(std::span<const std::byte> values, Type from, Type to);

// Returns the conversion of values in external form. how.to: a type that holds all of them.
// how.maps_fill: whether the default fill value of `from` becomes the default fill value of `to`.
// Fill values of one-byte types are not converted, because all values of these types are valid.
ValueConversion widening(Widening how);

}  // namespace nmb
