// Rules for names (spec/format.md, "Names"), and names in messages.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "nmb/status.h"

namespace nmb {

inline constexpr std::size_t kMaxNameBytes = 65535;
// The longest name of an object or attribute, in bytes, that netCDF-C reads from an HDF5 file.
// Longer names of attributes overrun its buffers.
inline constexpr std::size_t kMostNetcdfName = 255;

// Returns whether the text is well-formed UTF-8: shortest forms, no surrogates, nothing past
// U+10FFFF.
bool is_utf8(std::string_view text);

// Returns kUsage unless a new object may have the name. kind: "dimension", "variable" or
// "attribute".
Status check_new_name(std::string_view kind, std::string_view name);

// Returns the name in quotation marks, cut after 80 bytes.
std::string in_quotes(std::string_view name);

}  // namespace nmb
