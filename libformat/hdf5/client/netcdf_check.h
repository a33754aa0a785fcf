// NetcdfCheck checks an HDF5 file that was made from an NMB file. For each variable, netCDF-C must
// see the same dimensions as in the variable's source. The check numbers dimensions as netCDF-C
// does, group by group.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/hdf5_form.h"
#include "reader/file_reader.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// Checks that a netCDF-4 file can hold the names of all groups, data sets, links and attributes.
// Reads the definitions of all blocks. Errors: kUnsupported, with the first name that such a file
// cannot hold; kDamaged; kIo.
Status check_netcdf_names(const NamedBlocks& blocks);

// Not thread-safe.
class NetcdfCheck {
 public:
  // `form` must outlive the object.
  NetcdfCheck(const NamedBlocks& blocks, const Hdf5Form& form) : blocks_(blocks), form_(form) {}

  // Adds a group of the HDF5 file. Groups must be added in the order in which netCDF-C reads them.
  void add(const LoadedBlock& written);
  // Adds a group that was made from the classic block `source`. Errors: kDamaged if a variable has
  // other dimensions in the group than in `source`.
  Status add_classic(const LoadedBlock& written, const LoadedBlock& source, bool plain);
  // Makes the checks that need all groups. Call this function after all groups were added. Errors:
  // kIo; kDamaged, with the name of the variable, if netCDF sees other dimensions for a variable
  // than in its source.
  Status finish() const;

 private:
  struct VariableDimensions {  // numbers of the dimensions that a variable of a classic block uses
    std::string variable;
    std::vector<std::int64_t> ids;
    std::vector<std::string> paths;
  };
  Status check_numbers(const std::string& variable, const std::vector<std::int64_t>& ids,
                       const std::vector<std::string>& paths) const;
  Status check_block(const std::shared_ptr<const LoadedBlock>& block) const;

  const NamedBlocks blocks_;
  const Hdf5Form& form_;
  std::map<std::int64_t, std::string>
      scales_;  // path of the scale for each number; if several scales have the same number,
                // netCDF-C takes the last one
  std::int64_t next_ = 0;
  std::vector<VariableDimensions> uses_;
};

}  // namespace nmb::hdf5
