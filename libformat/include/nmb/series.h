// write_series: time series of single variables from files that hold many variables for a short
// time each.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nmb/communicator.h"
#include "nmb/convert.h"
#include "nmb/merge.h"
#include "nmb/status.h"
#include "nmb/types.h"

namespace nmb {

struct SeriesOptions {
  std::vector<std::string> inputs;  // in the order of their times
  std::string folder;               // an existing folder, for the outputs
  // Name of an output: {variable}, {first} and {last} are replaced; the last two by the first and
  // the last time as YYYYMMDD, with hours, minutes and seconds if a day has several times, and by
  // "fx" for variables without the time dimension. The result has no '/'.
  std::string name = "{variable}_{first}-{last}.nc";
  std::optional<Kind> classic{};  // the kind of the outputs; nullopt: netCDF-4
  // Used: overwrite, sync, check, threads, cancel; deflate and shuffle for netCDF-4 outputs.
  ConvertOptions write{};
  bool strict = false;  // a warning is a conflict
};

struct SeriesFile {
  std::string variable;
  std::string path;
  std::string first, last;  // as in the name
  std::uint64_t bytes = 0;
};

// Joins the inputs along their record dimension, as pack() in mode join with `monotonic`, and
// writes each variable to a file of its own, with its coordinates, their bounds, and what the
// attributes coordinates, bounds, cell_measures, grid_mapping, ancillary_variables and
// formula_terms name. All outputs get their names at the end, or none does: existing files that are
// replaced come back after a failure. Errors: those of pack() and of write_classic() or
// write_hdf5(); kUsage for the template, and for outputs that are inputs; kUnsupported for times
// that have no date. Not collective.
NMB_EXPORT Status write_series(const SeriesOptions& options, PackReport* report,
                               std::vector<SeriesFile>* files);

}  // namespace nmb
