// Which types netCDF-C shows.
#pragma once

#include "model/extension.h"

namespace nmb {

// Returns whether netCDF-C shows objects of a type. For example, it does not show variables of a
// compound type without a name. is_named: whether the file names the type.
inline bool is_shown_by_netcdf(const ExtendedType& type, bool is_named) {
  switch (type.type_class) {
    case TypeClass::kInteger:
    case TypeClass::kString:
      return true;
    case TypeClass::kFloat:
      return type.size <= 8;
    default:
      return is_named;
  }
}

}  // namespace nmb
