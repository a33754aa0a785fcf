// write_hdf5: an NMB file as HDF5 or netCDF-4, as its blocks of kind 6 came from one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nmb/classic_view.h"
#include "nmb/communicator.h"
#include "nmb/extract.h"
#include "nmb/lost_records.h"
#include "nmb/reader.h"
#include "nmb/status.h"

namespace nmb {

// What an HDF5 file does not have of an NMB file, or has otherwise.
struct Hdf5Losses {
  // It cannot hold: user blocks of groups other than the root group, unless all others lie below
  // that one.
  std::vector<Loss> losses{};
  // Definitions that HDF5 writes in another form, without a loss of values: filter parameters that
  // it replaces.
  std::vector<Loss> changes{};
  LostRecords records{};
};

// Publishes `path` or leaves what was there untouched. Done by rank 0 of `ranks`; all get the
// outcome. The HDF5 library works in a process of its own, which opens `input`, the file that
// `reader` has open. options.kind and threads do not count; options.check: the result is read
// again, its groups and values are those of `input`, and netCDF sees the dimensions of its sources.
// kConflict: losses without options.on_losses; kDamaged, kUnsupported: what that process says;
// kExists; kIo; kNoSpace.
NMB_EXPORT Status write_hdf5(const Reader& reader, const std::string& input,
                             const std::string& path, const ExtractOptions& options,
                             Communicator& ranks);

}  // namespace nmb
