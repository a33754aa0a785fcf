#include "common/options/output_kind.h"

#include <string>
#include <utility>

namespace nmb::tools {

std::string_view kind_by_ending(std::string_view output) {
  constexpr std::pair<std::string_view, std::string_view> kEndings[] = {
      {".nmb", "nmb"}, {".nc", "netcdf"}, {".nc3", "cdf2"},  {".cdf", "classic"},
      {".nc4", "nc4"}, {".h5", "hdf5"},   {".hdf5", "hdf5"}, {".he5", "hdf5"}};
  std::string small(output);
  for (char& letter : small)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  for (const auto& [ending, kind] : kEndings)
    if (small.ends_with(ending)) return kind;
  return {};
}

bool has_ending(std::string_view output) {
  const std::string_view name = output.substr(output.rfind('/') + 1);
  return name.find('.', 1) != std::string_view::npos;
}

}  // namespace nmb::tools
