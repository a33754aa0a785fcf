// stored_array: the values of a variable as one array, in its own type and order of bytes.
#pragma once

#include <cstdint>
#include <memory>

#include "nmb/values.h"

namespace nmb {

// As value_array(), but types that differ from a classic one by the order of bytes stay as they
// are.
Result<ValueArray> stored_array(const Metadata& metadata, const ClassicLayout& layout,
                                std::uint64_t records, VarId variable,
                                std::shared_ptr<const ByteSource> extent);

}  // namespace nmb
