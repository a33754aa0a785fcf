// The kind of an output according to the ending of its name, the same in all tools.
#pragma once

#include <string_view>

namespace nmb::tools {

// Returns "nmb", "cdf2", "nc4" or "hdf5", the words of --to; "classic" for a classic netCDF file of
// any kind (.cdf); "netcdf" for any netCDF file (.nc); empty if the ending is unknown.
std::string_view kind_by_ending(std::string_view output);

// The endings that kind_by_ending() knows, for messages.
inline constexpr std::string_view kOutputEndings =
    ".nmb, .nc, .nc3, .cdf, .nc4, .h5, .hdf5 or .he5";

}  // namespace nmb::tools
