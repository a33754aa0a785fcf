// Writes dimensions of classic blocks to HDF5 in the form that netCDF-4 uses. Each dimension is a
// dimension scale, and has a list of the data sets that use the dimension (HDF5 Dimension Scale
// Specification; netCDF documentation, "Interoperability with HDF5").
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/dimension_ids.h"
#include "handle.h"
#include "import/export_source.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

class DimensionScales {
 public:
  struct ScaleUse {  // a use of a dimension, as in HDF5's REFERENCE_LIST
    hobj_ref_t data_set;
    int place;
  };
  // Uses of dimensions that several groups share. The key is the path of the scale.
  using SharedUses = std::map<std::string, std::vector<ScaleUse>>;

  // Prepares the scales of a block. `group` is the block's group in the HDF5 file. `ids` must
  // include the dimensions of the block. `shared` receives the uses of dimensions that other blocks
  // also use. `source`, `ids` and `shared` must outlive the object.
  static Result<DimensionScales> make(const ExportSource& source, hid_t group,
                                      const DimensionIds& ids, SharedUses* shared);
  // Writes to each shared scale the list of its uses. Call this function after all groups were
  // made.
  static Status list_shared_uses(hid_t file, const SharedUses& shared);

  // Returns the name of the link to a variable. If a dimension has the variable's name, but the
  // variable is not the scale of this dimension, the link gets another name.
  std::string name_of(VarId variable) const;
  // Makes scales for dimensions that have no variable as their scale. Call this function before the
  // variables are made.
  Status make_scales();
  // Links scales and variables to each other. Call this function after the variables were made.
  Status attach();

 private:
  DimensionScales(const ExportSource& source, hid_t group, const DimensionIds& ids,
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
                         std::vector<std::vector<ScaleUse>>* uses) const;
  static Status list_uses(hid_t scale, const std::vector<ScaleUse>& uses);

  const ExportSource& source_;
  const hid_t group_;
  const DimensionIds& ids_;
  SharedUses& shared_;
  // For each dimension, the same dimension in a parent group, if there is one.
  std::vector<std::optional<DimensionIds::Dimension>> above_;
  // For each dimension, the variable that is its scale, or kGlobal.
  std::vector<VarId> scales_;
  // For each dimension, whether a data set represents it.
  std::vector<bool> has_scale_;
};

}  // namespace nmb::hdf5
