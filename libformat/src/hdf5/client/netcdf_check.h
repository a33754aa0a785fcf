// NetcdfCheck: whether netCDF-C sees in an HDF5 file, which was made of an NMB file, the dimensions
// that variables had in their sources. It counts as netCDF-C does, group by group.
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

// Whether all names of groups, data sets, links and attributes have a place in a netCDF-4 file.
// Reads the definitions of all blocks. kUnsupported, naming the first that has none; kDamaged, kIo.
Status check_netcdf_names(const Reader& reader);

// Not thread-safe.
class NetcdfCheck {
 public:
  // Both outlive this.
  NetcdfCheck(const Reader& reader, const Hdf5Form& form) : reader_(reader), form_(form) {}

  // A group of the HDF5 file, in the order in which they are read.
  void add(const Block& written);
  // The same; source: the classic block that it was made of. kDamaged: a variable has other
  // dimensions there.
  Status add_classic(const Block& written, const Block& source, bool plain);
  // When all groups were added. kDamaged: netCDF sees other dimensions, naming the first variable;
  // kIo.
  Status finish() const;

 private:
  struct Use {  // of dimensions by a variable of a classic block, by numbers
    std::string variable;
    std::vector<std::int64_t> ids;
    std::vector<std::string> paths;
  };
  Status check_numbers(const std::string& variable, const std::vector<std::int64_t>& ids,
                       const std::vector<std::string>& paths) const;
  Status check_block(const std::shared_ptr<const Block>& block) const;

  const Reader& reader_;
  const Hdf5Form& form_;
  std::map<std::int64_t, std::string> scales_;  // paths by number: netCDF-C takes the last one
  std::int64_t next_ = 0;
  std::vector<Use> uses_;
};

}  // namespace nmb::hdf5
