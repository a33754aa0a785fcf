// The option --hdf5-view (see hdf5_view_option.h).
#include "common/hdf5_view_option.h"

#include "common/tool.h"

namespace nmb::tools {

void offer_hdf5_view(CLI::App& app, std::string* word) {
  app.add_option(
         "--hdf5-view", *word,
         "HDF5 view of an NMB output: on: HDF5 and netCDF-4 programs can open it (ncdump -h "
         "OUT.nmb); if a view is not possible, nothing is written; auto: with a view if "
         "possible and if there are at most 100,000 dimensions and variables; off (default)")
      ->type_name("WHEN")
      ->check(one_of({"auto", "on", "off"}));
}

Hdf5View hdf5_view_of(const std::string& word) {
  return word == "on" ? Hdf5View::kOn : word == "auto" ? Hdf5View::kAuto : Hdf5View::kOff;
}

}  // namespace nmb::tools
