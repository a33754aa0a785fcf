// Checks names (spec/writer.md, section 5.6) and puts them in quotation marks for messages.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "wire/failure.h"

namespace nmb {

inline constexpr std::size_t kMaxNameBytes = 65535;
// Length in bytes of the longest name of an object or attribute that netCDF-C reads from an HDF5
// file. Longer attribute names overrun its buffers.
inline constexpr std::size_t kMostNetcdfName = 255;

// Returns whether the text is well-formed UTF-8, which has no overlong forms, surrogates, or code
// points above U+10FFFF.
bool is_utf8(std::string_view text);

// Returns whether a block may have the name (R-NM-1).
bool is_block_name(std::string_view name);

// Returns kUsage if a new object may not have the name. kind: "dimension", "variable" or
// "attribute".
Status check_new_name(std::string_view kind, std::string_view name);

// Returns the name in quotation marks, cut after 80 bytes.
std::string in_quotes(std::string_view name);

}  // namespace nmb
