// The public types of elements (nmb/datatype.h) for the library's own types.
#pragma once

#include "nmb/datatype.h"
#include "nmb/types.h"

namespace nmb {

DataType classic_data_type(Type type);

}  // namespace nmb
