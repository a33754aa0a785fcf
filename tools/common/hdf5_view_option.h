// --hdf5-view: whether an NMB output gets an HDF5 view.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "nmb/writer.h"

namespace nmb::tools {

// *view is set if the option is given; it must outlive the app.
void offer_hdf5_view(CLI::App& app, std::optional<Hdf5View>* view);

}  // namespace nmb::tools
