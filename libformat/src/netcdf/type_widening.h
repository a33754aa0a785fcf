// Converts numbers of several types to one type that holds them all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nmb/types.h"
#include "values/array_source.h"

namespace nmb {

// A set of types, one bit for each.
using TypeSet = std::uint32_t;
constexpr TypeSet type_bit(Type type) { return TypeSet{1} << static_cast<unsigned>(type); }

// Returns the narrowest type that holds every value of all these types: integers first, then float
// (which holds integers of 16 bits), then double (which holds those of 32 bits). nullopt: no type
// does, or kChar is one of several.
std::optional<Type> narrowest_type(TypeSet types);

// Converts values in external form. to: a type that holds them.
std::vector<std::byte> widened_values(std::span<const std::byte> values, Type from, Type to);

// Converts all values of `source`. maps_fill: the default fill value of the one type becomes that
// of the other, except for types of one byte, whose values are all valid.
Source widened_array(Source source, Type from, Type to, bool maps_fill);

}  // namespace nmb
