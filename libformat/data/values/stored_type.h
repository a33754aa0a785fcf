// Finds the classic types that correspond to types that a block defines.
#pragma once

#include <optional>

#include "model/extension.h"
#include "model/metadata.h"

namespace nmb {

// Returns the classic type that encodes values with the same bits as `type`, in either byte order,
// or nullopt if there is none.
inline std::optional<Type> classic_of(const Metadata& metadata, Type type) {
  return TypeTable::is_extended(type) ? metadata.extension()->types.classic(type)
                                      : std::optional<Type>(type);
}

// Returns whether the values of a type are little-endian. The values of its classic type are
// big-endian. The type must have a classic type.
inline bool is_swapped(const Metadata& metadata, Type type) {
  return TypeTable::is_extended(type) && metadata.extension()->types.is_swapped(type);
}

}  // namespace nmb
