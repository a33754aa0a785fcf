// write_series: writes the time series of each variable to its own file, from input files that each
// have many variables over a short time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convert/convert.h"
#include "merge/reporting/merge.h"
#include "model/values.h"
#include "parallel/communicator.h"
#include "wire/failure.h"
#include "wire/kinds.h"

namespace nmb::tools {

struct SeriesOptions {
  // Paths of the inputs, in the order of their times. The blocks of NMB files are joined; the
  // blocks of all NMB files are ordered by time.
  std::vector<std::string> inputs;
  bool sorts_blocks_by_name = false;  // as in PackOptions
  ExternalPaths external = ExternalPaths::kNone;
  std::string folder;  // an existing folder, for the outputs
  // Pattern for the name of an output, without '/'. {variable} stands for the name of the variable,
  // {first} and {last} for its first and last time as YYYYMMDD. Hours, minutes and seconds follow
  // if a day has several times. For variables without the time dimension, {first} and {last} are
  // "fx".
  std::string name = "{variable}_{first}-{last}.nc";
  std::optional<Kind> classic{};  // kind of the outputs; netCDF-4 if not set
  // For netCDF-4 outputs: filters of the variables. If not set, variables keep the chunks and
  // filters of the inputs, as in a merge.
  std::optional<Compression> compression{};
  // Join::history and Join::drop_tracking_id. Both also apply to a single input.
  std::string history{};
  bool drop_tracking_id = false;
  bool rebase_times = false;  // Join::rebase_times
  // Only these members are used: overwrite, sync, check, threads and cancel.
  ExtractOptions write{};
  bool strict = false;  // whether a warning counts as a conflict
};

struct SeriesFile {
  std::string variable;
  std::string path;
  std::string first, last;  // the texts for {first} and {last}
  std::uint64_t bytes = 0;
};

// Joins the inputs along their record dimension, as pack() does in mode join with `monotonic`.
// Writes each variable to its own file, which also has the coordinates of the variable and the
// variables to which its attributes refer (docs/guides/convert.md, "One file for each variable").
// At the end, either all outputs get their names or none does; a failure does not change existing
// files. Not collective. Errors: those of pack() and of write_classic() or write_hdf5(); kUsage for
// a wrong pattern, and for an output that is an input; kConflict if the inputs have no variable
// that gets a file; kUnsupported for times that have no date.
Status write_series(const SeriesOptions& options, PackReport* report,
                    std::vector<SeriesFile>* files);

}  // namespace nmb::tools
