// Determines the kind of an output from the ending of its name, in the same way in all tools.
#pragma once

#include <string_view>

namespace nmb::tools {

// Returns "nmb", "cdf2", "nc4" or "hdf5", which are values of --to. Returns "classic" for .cdf (a
// classic netCDF file of any kind), "netcdf" for .nc (any netCDF file), and an empty text for an
// unknown ending.
std::string_view kind_by_ending(std::string_view output);

// Text for messages: the endings that kind_by_ending() knows.
inline constexpr std::string_view kOutputEndings =
    ".nmb, .nc, .nc3, .cdf, .nc4, .h5, .hdf5 or .he5";

}  // namespace nmb::tools
