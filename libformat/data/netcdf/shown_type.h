// Says which types netCDF shows.
#pragma once

#include "model/extension.h"

namespace nmb {

// Returns whether netCDF-C shows objects of a type. is_named: whether the file names the type.
// netCDF-C does not show, for example, variables of a compound type without a name.
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
