// Numbers of several types as those of one that holds them all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nmb/types.h"
#include "values/array_source.h"

namespace nmb {

// Types, each a bit.
using TypeSet = std::uint32_t;
constexpr TypeSet type_bit(Type type) { return TypeSet{1} << static_cast<unsigned>(type); }

// The narrowest type that holds every value of all these: integers come first, then float (which
// holds integers of 16 bits), then double (of 32 bits). nullopt: none does, or kChar is one of
// several.
std::optional<Type> narrowest_type(TypeSet types);

// Values in external form. to: a type that holds them.
std::vector<std::byte> widened_values(std::span<const std::byte> values, Type from, Type to);

// The same of all that `source` has. maps_fill: what is the default fill value of its type becomes
// that of the other, but for types of one byte, whose values are all valid.
Source widened_array(Source source, Type from, Type to, bool maps_fill);

}  // namespace nmb
