// --hdf5-view: whether an NMB output gets an HDF5 view.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "nmb/writer.h"

namespace nmb::tools {

// Adds the option, which sets *view. *view must outlive the app.
void offer_hdf5_view(CLI::App& app, std::optional<Hdf5View>* view);

}  // namespace nmb::tools
