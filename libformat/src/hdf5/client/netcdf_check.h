// NetcdfCheck: checks that netCDF-C sees in an HDF5 file, which was made from an NMB file, the
// dimensions that variables had in their sources. It numbers dimensions like netCDF-C, group by
// group.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hdf5/client/hdf5_form.h"
#include "nmb/reader.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

// Checks that a netCDF-4 file can hold all names of groups, data sets, links and attributes. Reads
// the definitions of all blocks. Errors: kUnsupported with the first name that it cannot hold;
// kDamaged, kIo.
Status check_netcdf_names(const Reader& reader);

// Not thread-safe.
class NetcdfCheck {
 public:
  // Both arguments must outlive the object.
  NetcdfCheck(const Reader& reader, const Hdf5Form& form) : reader_(reader), form_(form) {}

  // Adds a group of the HDF5 file, in the order in which netCDF-C reads groups.
  void add(const Block& written);
  // Adds a group made from the classic block `source`. Errors: kDamaged if a variable has other
  // dimensions there.
  Status add_classic(const Block& written, const Block& source, bool plain);
  // Call this after all groups were added. Errors: kDamaged if netCDF sees other dimensions, with
  // the name of the first variable; kIo.
  Status finish() const;

 private:
  struct Use {  // the numbers of the dimensions that a variable of a classic block uses
    std::string variable;
    std::vector<std::int64_t> ids;
    std::vector<std::string> paths;
  };
  Status check_numbers(const std::string& variable, const std::vector<std::int64_t>& ids,
                       const std::vector<std::string>& paths) const;
  Status check_block(const std::shared_ptr<const Block>& block) const;

  const Reader& reader_;
  const Hdf5Form& form_;
  std::map<std::int64_t, std::string> scales_;  // paths by number; if several have the same number,
                                                // netCDF-C takes the last one
  std::int64_t next_ = 0;
  std::vector<Use> uses_;
};

}  // namespace nmb::hdf5
