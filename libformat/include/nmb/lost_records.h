// lost_records: records that netCDF programs do not see once a file is HDF5, or has an HDF5 view.
#pragma once

#include <cstdint>
#include <string>

#include "nmb/export.h"
#include "nmb/reader.h"
#include "nmb/status.h"

namespace nmb {

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

}  // namespace nmb
