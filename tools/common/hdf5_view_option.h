// --hdf5-view: whether an NMB output gets an HDF5 view.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "nmb/writer.h"

namespace nmb::tools {

// `word` must outlive the app; pass it to hdf5_view_of().
void offer_hdf5_view(CLI::App& app, std::string* word);
// auto, on or off.
Hdf5View hdf5_view_of(const std::string& word);

}  // namespace nmb::tools
