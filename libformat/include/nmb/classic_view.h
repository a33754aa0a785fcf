// classic_view: a block that came from HDF5 or netCDF-4 as a classic dataset, and what of it a
// classic file cannot hold (docs/hdf5.md, "To classic netCDF").
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nmb/dataset.h"
#include "nmb/netcdf_view.h"
#include "nmb/status.h"
#include "nmb/types.h"

namespace nmb {

// Something that the classic dataset does not have, or has otherwise.
struct Loss {
  std::string object;  // variable "v", attribute "v:units", dimension "x", link "l", group "/g"
  std::string text;    // what was found, what is expected, and what becomes of it
  std::string line() const { return object + ": " + text; }
};

struct ClassicView {
  // Of kind CDF-5, with types of `target` alone. Its extent reads chunks, other orders of bytes and
  // values never written as a classic file has them. Read in ascending order it decodes each chunk
  // once, if the chunks of a row of chunks (those that follow the first one's beginning along all
  // dimensions but the slowest; of all record variables together) take at most 256 MiB, which is
  // what it keeps.
  std::shared_ptr<const Dataset> dataset;
  // Links, variables, dimensions, attributes. Empty: write_classic() makes a file of the same
  // content.
  std::vector<Loss> losses;
  // Variables of the block that netCDF shows and the classic dataset does not have.
  std::vector<VarId> left_out;
  // Names of variables of the classic dataset whose data sets were made with a fill value that
  // is neither in an attribute nor netCDF's default. Later writes to the classic dataset leave
  // another fill value around them. No values differ.
  std::vector<std::string> lost_fill_values;
};

// Variables and attributes of a classic dataset whose types `target` does not have; attributes of
// such a variable go with it. For callers that leave them out: classic_view() keeps those of them
// whose values another type holds.
NMB_EXPORT std::vector<Loss> type_losses(const Metadata& metadata, Kind target);

// Shows `dataset` as a classic dataset of kind `target` (CDF-1, CDF-2 or CDF-5). A classic dataset
// stays the same but for types that `target` does not have: integers become short, int or double,
// whichever is the narrowest that holds all values, each is a loss, and what none holds is left out
// (docs/hdf5.md). For that all values of such variables are read. No losses are: attributes that
// netCDF and HDF5 keep for themselves (nmb/netcdf_view.h), chunks, filters, byte orders, and blocks
// below it. kDamaged: the hdf5 section, values of attributes, or values that are read; kLimit:
// sizes past 2^62.
// lengths: of dimensions of the file that the block came from, where other groups may use them;
// read during the call. first_made_up: as for netcdf_view().
NMB_EXPORT Result<ClassicView> classic_view(std::shared_ptr<const Dataset> dataset, Kind target,
                                            const DimensionLengths* lengths = nullptr,
                                            std::optional<std::int64_t> first_made_up = {});

}  // namespace nmb
