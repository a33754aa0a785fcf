// --hdf5-view, --view-dimensions and --view-copies: whether an NMB output gets an HDF5 view, and
// what the view shows.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "wire/failure.h"
#include "writer/file_writer.h"

namespace nmb::tools {

// The user's choice. nullopt: none.
struct ViewChoice {
  std::optional<Hdf5View> view{};
  std::optional<bool> dimensions{}, copies{};

  // Returns whether the user chose what the view shows. Unless the user also chose `view`, a view
  // is then made as with Hdf5View::kAuto.
  bool has_options() const { return dimensions || copies; }
  // Checks that the output can have the options. Errors: kUsage.
  Status check(bool can_have_view) const;
  // Sets the options of the view, but not whether there is a view.
  void set(FileWriterOptions* options) const {
    options->view_dimensions = dimensions;
    options->view_copies = copies;
  }
};

// Adds the options, which set *choice. *choice must outlive the app.
void offer_hdf5_view(CLI::App& app, ViewChoice* choice);

}  // namespace nmb::tools
