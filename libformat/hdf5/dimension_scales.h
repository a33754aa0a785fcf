// Dimensions of classic blocks as netCDF-4 has them in HDF5: dimension scales, and lists of which
// data set uses which (HDF5 Dimension Scale Specification; "Interoperability with HDF5" of netCDF).
#pragma once

#include <string>
#include <vector>

#include "handle.h"
#include "nmb/status.h"
#include "source_block.h"

namespace nmb::hdf5 {

class DimensionScales {
 public:
  // group: of the block. first_id: that of its first dimension among those of all blocks.
  DimensionScales(const SourceBlock& source, hid_t group, int first_id);

  // The name of the link to a variable: that of a dimension is the scale's.
  std::string name_of(VarId variable) const;
  // Makes the scales of dimensions that no variable is the scale of; ahead of the variables.
  Status make();
  // Tells scales and variables of each other; behind the variables.
  Status attach();

 private:
  struct Use {  // of a dimension, in the form of HDF5's own list
    hobj_ref_t data_set;
    int place;
  };
  bool is_scale(VarId variable) const;
  std::uint64_t length(DimId dimension) const;
  Result<Handle> open(const std::string& name) const;
  Status make_scale(DimId dimension);
  Status mark_scale(hid_t data_set, DimId dimension, const std::string& name) const;
  Status attach_variable(VarId variable, const std::vector<hobj_ref_t>& scales,
                         std::vector<std::vector<Use>>* uses) const;
  Status tell_uses(hid_t scale, const std::vector<Use>& uses) const;

  const SourceBlock& source_;
  const hid_t group_;
  const int first_id_;
  std::vector<VarId> scales_;    // of each dimension the variable, kGlobal: none
  std::vector<bool> has_scale_;  // of each dimension, whether a data set stands for it
};

}  // namespace nmb::hdf5
