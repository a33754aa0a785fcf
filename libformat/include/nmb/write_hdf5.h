// write_hdf5: an NMB file as HDF5 or netCDF-4, as its blocks of kind 6 came from one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nmb/classic_view.h"
#include "nmb/communicator.h"
#include "nmb/extract.h"
#include "nmb/reader.h"
#include "nmb/status.h"

namespace nmb {

// What of an NMB file an HDF5 file cannot hold: user blocks of groups other than the root group,
// unless all others lie below that one. changes, if not null, gets the definitions that HDF5
// writes in another form, without a loss of values: filter parameters that it replaces. Reads the
// definitions of all blocks of kind 6. kDamaged; kIo.
NMB_EXPORT Result<std::vector<Loss>> hdf5_losses(const Reader& reader,
                                                 std::vector<Loss>* changes = nullptr);

// Record dimensions that have records and no variable. HDF5 gives a dimension its length, but
// netCDF takes that of its variables, and shows 0 records in an HDF5 file or view.
struct LostRecords {
  std::uint64_t blocks = 0;  // that have one
  std::string block{};       // the first of them by name
  std::string dimension{};
  std::uint64_t records = 0;
  // "6 records of dimension "t", which no variable has: netCDF programs see 0"; empty: none is
  // lost.
  NMB_EXPORT std::string text() const;
};

// Dimensions that groups below use by property 12 (spec/hdf5_section.md) have the variables of
// these. Blocks that came from HDF5 stay as they were there. Reads the definitions of classic
// datasets with records. kDamaged; kIo.
NMB_EXPORT Result<LostRecords> lost_records(const Reader& reader);

// Publishes `path` or leaves what was there untouched. Done by rank 0 of `ranks`; all get the
// outcome. The HDF5 library works in a process of its own, which opens `input`, the file that
// `reader` has open. options.kind and threads do not count; options.check: the result is read
// again, its groups and values are those of `input`, and netCDF sees the dimensions of its sources.
// kConflict: hdf5_losses() without options.lossy; kDamaged, kUnsupported: what that process says;
// kExists; kIo; kNoSpace.
NMB_EXPORT Status write_hdf5(const Reader& reader, const std::string& input,
                             const std::string& path, const ExtractOptions& options,
                             Communicator& ranks);

}  // namespace nmb
