// nmconvert --out-dir: converts many files, or many blocks of an NMB file, on threads or on the
// processes of an MPI job.
#pragma once

#include <optional>
#include <string>

#include "common/command_line/tool.h"
#include "nmconvert/conversion.h"

namespace nmb::tools {

struct BatchArguments {
  // INPUT, if each of its blocks that `block` matches becomes a file; empty for --files-from.
  std::string input;
  std::string folder;                // --out-dir
  std::string to;                    // --to
  std::optional<std::string> block;  // --extract
  std::string block_by;              // --block-by or --regroup
  std::string statistics = "none";   // --stats
  std::string options;  // other options that determine the outputs, as the user gave them
  std::string sort;     // --sort
  std::string report;   // --report
  bool resume = false;  // --resume
};

// Converts all files of the list (tool.options().files_from), or all blocks, continues after
// failures, and shows the results in the order of the list. The report has them in the order in
// which the conversions were finished, so that it contains every finished conversion even if the
// run is killed.
Status run_batch(Tool& tool, const BatchArguments& arguments, const ConversionOptions& options);

}  // namespace nmb::tools
