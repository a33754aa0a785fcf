// nmconvert --one-file-per-variable: writes time series of single variables.
#pragma once

#include <string>

#include "common/command_line/tool.h"
#include "nmconvert/conversion.h"

namespace nmb::tools {

struct SeriesArguments {
  std::string input;              // an NMB file; empty for --files-from
  std::string folder;             // --out-dir
  std::string to;                 // --to; if empty, the kind of the inputs
  std::string sort;               // --sort
  std::string name;               // --name; if empty, the default
  bool no_history = false;        // --no-history
  bool keep_tracking_id = false;  // --keep-tracking-id
  bool rebase_times = false;      // --time-units rebase
};

// Joins the files of the list (tool.options().files_from), or the blocks of an NMB file, and writes
// a file for each variable. The first rank does the work.
Status run_series(Tool& tool, const SeriesArguments& arguments, const ConversionOptions& options);

}  // namespace nmb::tools
