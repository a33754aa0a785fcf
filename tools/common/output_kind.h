// What the ending of an output's name says of its kind: the same in all tools.
#pragma once

#include <string_view>

namespace nmb::tools {

// "nmb", "cdf2", "nc4" or "hdf5", as --to names them; "classic": a classic netCDF file of a kind
// that is not said (.cdf); "netcdf": any netCDF file (.nc); empty: the ending says nothing.
std::string_view kind_by_ending(std::string_view output);

// The endings it knows, for messages: ".nmb, .nc, ...".
inline constexpr std::string_view kOutputEndings =
    ".nmb, .nc, .nc3, .cdf, .nc4, .h5, .hdf5 or .he5";

}  // namespace nmb::tools
