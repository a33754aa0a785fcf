// Determines the kind of an output from the ending of its name.
#pragma once

#include <string>
#include <string_view>

#include "wire/failure.h"

namespace nmb::tools {

// Returns "nmb", "cdf2", "nc4" or "hdf5", which are values of --to. Returns "classic" for .cdf (a
// classic netCDF file of any kind), "netcdf" for .nc (any netCDF file), and an empty text for an
// unknown ending. Ignores case.
std::string_view kind_by_ending(std::string_view output);

// Returns whether the last part of the path contains a dot after its first character.
bool has_ending(std::string_view output);

// The endings that kind_by_ending() knows, as a text for messages.
inline constexpr std::string_view kOutputEndings =
    ".nmb, .nc, .nc3, .cdf, .nc4, .h5, .hdf5 or .he5";

// The message for an ending that does not determine a kind.
inline std::string unknown_ending() {
  return "cannot determine the kind from the ending of the name; use --to, or end the name with " +
         std::string(kOutputEndings);
}

// Refuses "-", because no output is written to standard output.
inline Status refuse_dash(const std::string& output) {
  if (output != "-") return {};
  return Status(Code::kUsage,
                "found the output -, but no file is written to standard output; name a file (./- "
                "for a file called -)");
}

}  // namespace nmb::tools
