// Options and results that several calls share.
#pragma once

#include <nmb/counts.h>
#include <nmb/options.h>
#include <nmb/statistics.h>
#include <nmb/types.h>

#include "option_values.h"

namespace nmb_python {

inline nmb::Storing storing_of(const OptionValues& values) {
  return {values.text("codec"), values.flag("shuffle"), values.text("chunk")};
}
inline nmb::Hdf5View view_of(const OptionValues& values) {
  return values.choice<nmb::Hdf5View>("hdf5_view", {"off", "small", "auto", "on"});
}
inline nmb::StatisticsLevel level_of(const OptionValues& values) {
  return values.choice<nmb::StatisticsLevel>("statistics", {"none", "basic", "histogram", "parts"});
}
inline nmb::ExternalPaths external_of(const OptionValues& values) {
  return values.choice<nmb::ExternalPaths>("external", {"none", "beneath", "any"});
}
// nc4 and hdf5 are the same kind of file; *netcdf says which.
inline nmb::FileKind kind_of(const OptionValues& values, bool* netcdf) {
  const int kind = values.choice<int>("to", {"nmb", "cdf1", "cdf2", "cdf5", "hdf5", "nc4"});
  *netcdf = kind != 4;
  return static_cast<nmb::FileKind>(kind == 5 ? 4 : kind);
}
inline nb::list to_list(const std::vector<std::string>& texts) {
  nb::list out;
  for (const std::string& text : texts) out.append(to_text(text));
  return out;
}
inline nb::tuple to_tuple(const nmb::Totals& t) {
  return nb::make_tuple(t.blocks, t.variables, t.dimensions, t.attributes, t.records, t.samples);
}

}  // namespace nmb_python
