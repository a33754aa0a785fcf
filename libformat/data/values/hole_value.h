// The value of elements that are not stored (spec/format.md, section 10.1).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hdf5_types/hdf5_section.h"
#include "model/metadata.h"

namespace nmb {

// Returns the value that each element of a variable has in a hole, in stored form: its _FillValue,
// or else the fill value that the properties set, or else the default of its classic type. The
// result is empty if this value is zero.
std::vector<std::byte> hole_value(const Metadata& metadata, VarId variable,
                                  std::span<const hdf5::Property> properties);

}  // namespace nmb
