// Unicode's normal form NFC, in which netCDF stores and compares names.
#pragma once

#include <string>
#include <string_view>

namespace nmb::pnetcdf {

// text: well-formed UTF-8.
std::string normal_form(std::string_view text);

}  // namespace nmb::pnetcdf
