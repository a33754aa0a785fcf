// What a name may be (spec/format.md, "Names"), and names as messages show them.
#pragma once

#include <string>
#include <string_view>

#include "nmb/status.h"

namespace nmb {

inline constexpr std::size_t kMaxNameBytes = 65535;
// The longest name of an object or attribute that netCDF-C reads from an HDF5 file, in bytes.
// Longer names of attributes overrun its buffers.
inline constexpr std::size_t kMostNetcdfName = 255;

// Well-formed UTF-8: shortest forms, no surrogates, nothing past U+10FFFF.
bool is_utf8(std::string_view text);

// kUsage unless `name` may be given to a new object. `kind`: "dimension", "variable", "attribute".
Status check_new_name(std::string_view kind, std::string_view name);

// The name in quotation marks, cut after 80 bytes.
std::string in_quotes(std::string_view name);

}  // namespace nmb
