// Determines the kinds of outputs from the endings of their names (see output_kind.h).
#include "common/output_kind.h"

#include <utility>

namespace nmb::tools {

std::string_view kind_by_ending(std::string_view output) {
  constexpr std::pair<std::string_view, std::string_view> kEndings[] = {
      {".nmb", "nmb"}, {".nc", "netcdf"}, {".nc3", "cdf2"},  {".cdf", "classic"},
      {".nc4", "nc4"}, {".h5", "hdf5"},   {".hdf5", "hdf5"}, {".he5", "hdf5"}};
  for (const auto& [ending, kind] : kEndings)
    if (output.ends_with(ending)) return kind;
  return {};
}

}  // namespace nmb::tools
