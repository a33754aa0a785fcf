// Dimensions of classic blocks as netCDF-4 has them in HDF5: dimension scales, and lists of which
// data set uses which (HDF5 Dimension Scale Specification; "Interoperability with HDF5" of netCDF).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "handle.h"
#include "hdf5/client/dimension_ids.h"
#include "nmb/status.h"
#include "source_block.h"

namespace nmb::hdf5 {

class DimensionScales {
 public:
  struct Use {  // of a dimension, in the form of HDF5's own list
    hobj_ref_t data_set;
    int place;
  };
  // Of dimensions that several groups use, by their paths.
  using SharedUses = std::map<std::string, std::vector<Use>>;

  // group: of the block, in the file. ids: has the block's. shared: takes the uses of dimensions
  // that other blocks use too. source, ids and shared outlive this.
  static Result<DimensionScales> make(const SourceBlock& source, hid_t group,
                                      const DimensionIds& ids, SharedUses* shared);
  // Tells the scales of their users; when all groups are there.
  static Status tell_shared(hid_t file, const SharedUses& shared);

  // The name of the link to a variable: that of a dimension is the scale's.
  std::string name_of(VarId variable) const;
  // Makes the scales of dimensions that no variable is the scale of; ahead of the variables.
  Status make_scales();
  // Tells scales and variables of each other; behind the variables.
  Status attach();

 private:
  DimensionScales(const SourceBlock& source, hid_t group, const DimensionIds& ids,
                  SharedUses* shared, std::vector<std::optional<DimensionIds::Dimension>> above);
  bool is_scale(VarId variable) const;
  std::uint64_t length(DimId dimension) const;
  Result<Handle> open(const std::string& name) const;
  Result<Handle> open_scale(DimId dimension) const;
  std::string path_of(DimId dimension) const;
  int id_of(DimId dimension) const;
  Status make_scale(DimId dimension);
  Status mark_scale(hid_t data_set, DimId dimension, const std::string& name) const;
  Status attach_variable(VarId variable, const std::vector<hobj_ref_t>& scales,
                         std::vector<std::vector<Use>>* uses) const;
  static Status tell_uses(hid_t scale, const std::vector<Use>& uses);

  const SourceBlock& source_;
  const hid_t group_;
  const DimensionIds& ids_;
  SharedUses& shared_;
  // Of each dimension: what it is in a group above, the variable that is its scale (kGlobal: none),
  // whether a data set stands for it.
  std::vector<std::optional<DimensionIds::Dimension>> above_;
  std::vector<VarId> scales_;
  std::vector<bool> has_scale_;
};

}  // namespace nmb::hdf5
