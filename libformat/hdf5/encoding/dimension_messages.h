// Adds the messages of a data set that represents a dimension (spec/hdf5_view.md, "Dimensions and
// variables").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "encoding/object_header.h"

namespace nmb {

// Adds the messages of the data set that represents a dimension without a coordinate variable:
// dataspace, datatype, fill value and layout. This data set has no values.
void add_dimension_messages(ObjectHeader& header, std::uint64_t length, bool grows);
// Returns the text for this data set's attribute NAME.
std::string text_of_dimension(std::uint64_t length);
// Adds the attribute _Netcdf4Dimid with the value `number`. The attribute has index `index` among
// the attributes of the object.
void add_dimension_number(ObjectHeader& header, std::uint64_t number, std::uint64_t index = 0);
// Adds the first attributes of a dimension scale: CLASS, NAME (of `text_bytes` bytes) and, if
// `number` is set, _Netcdf4Dimid. Returns false if a message is too long.
[[nodiscard]] bool add_scale_attributes(ObjectHeader& header, std::string_view name,
                                        std::uint64_t text_bytes,
                                        std::optional<std::uint64_t> number);

}  // namespace nmb
