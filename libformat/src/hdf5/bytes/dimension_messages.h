// Adds the messages of a data set that represents a dimension (spec/hdf5_view.md, "Dimensions and
// variables").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hdf5/bytes/object_header.h"

namespace nmb {

// Adds dataspace, datatype, fill value and layout of a data set for a dimension without a
// coordinate variable. This data set has no values.
void add_dimension_messages(ObjectHeader& header, std::uint64_t length, bool grows);
// Returns the text of the attribute NAME of this data set.
std::string text_of_dimension(std::uint64_t length);
// Adds the first attributes of a dimension scale: CLASS, NAME (of `text_bytes` bytes) and, if there
// is a number, _Netcdf4Dimid. Returns false if a message is too long.
[[nodiscard]] bool add_scale_attributes(ObjectHeader& header, std::string_view name,
                                        std::uint64_t text_bytes,
                                        std::optional<std::uint64_t> number);

}  // namespace nmb
