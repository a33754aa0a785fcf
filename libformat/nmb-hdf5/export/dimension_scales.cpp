// The list of the data sets that use a scale is written once, when it is complete. HDF5's own
// functions for scales would write the list again for each data set.
#include "export/dimension_scales.h"

#include <algorithm>
#include <cstdio>

#include "export/attributes_out.h"
#include "export/links_out.h"
#include "hdf5_error.h"
#include "hdf5_types/netcdf_marks.h"
#include "model/paths.h"
#include "netcdf/shared_dimensions.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

constexpr hsize_t kChunk = 1024;  // chunk length of an unlimited scale without values

Status put_attribute(hid_t object, const char* name, hid_t stored, hid_t memory, hsize_t count,
                     const void* values) {
  NMB_ASSIGN(const Handle space,
             check_handle(count == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr),
                          "a space"));
  NMB_ASSIGN(const Handle attribute,
             check_handle(H5Acreate2(object, name, stored, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                          joined_text("attribute ", name)));
  return check_hdf5(H5Awrite(attribute.get(), memory, values), joined_text("attribute ", name));
}

Status put_text(hid_t object, const char* name, const std::string& text) {
  NMB_ASSIGN(const Handle type, check_handle(H5Tcopy(H5T_C_S1), "a string"));
  NMB_TRY(check_hdf5(H5Tset_size(type.get(), text.size() + 1), "a string"));
  return put_attribute(object, name, type.get(), type.get(), 0, text.c_str());
}

Result<hobj_ref_t> reference_to(hid_t object) {
  hobj_ref_t reference;
  NMB_TRY(check_hdf5(H5Rcreate(&reference, object, ".", H5R_OBJECT, H5I_INVALID_HID),
                     "a reference to an object"));
  return reference;
}

}  // namespace

Result<DimensionScales> DimensionScales::make(const ExportSource& source, hid_t group,
                                              const DimensionIds& ids, SharedUses* shared) {
  NMB_ASSIGN(auto above, ids.dimensions_above(source.block()));
  return DimensionScales(source, group, ids, shared, std::move(above));
}

DimensionScales::DimensionScales(const ExportSource& source, hid_t group, const DimensionIds& ids,
                                 SharedUses* shared,
                                 std::vector<std::optional<DimensionIds::Dimension>> above)
    : source_(source), group_(group), ids_(ids), shared_(*shared), above_(std::move(above)) {
  const Metadata& metadata = source.metadata();
  for (DimId d = 0; d < metadata.dimension_count(); ++d) {
    const auto variable = metadata.find_variable(metadata.dimension(d).name);
    const bool is_own = variable && !above_[d] &&
                        !metadata.variable(*variable).dimensions.empty() &&
                        metadata.variable(*variable).dimensions[0] == d;
    scales_.push_back(is_own ? *variable : kGlobal);
    has_scale_.push_back(is_own || above_[d] || !source.style().plain ||
                         !is_made_up(metadata.dimension(d).name));
  }
  // A scale with several dimensions refers to these dimensions by number. Therefore, each of these
  // dimensions must have a scale.
  for (const VarId scale : scales_)
    if (scale != kGlobal)
      for (const DimId d : metadata.variable(scale).dimensions) has_scale_[d] = true;
}

bool DimensionScales::is_scale(VarId variable) const {
  const Variable v = source_.metadata().variable(variable);
  return !v.dimensions.empty() && scales_[v.dimensions[0]] == variable;
}

std::uint64_t DimensionScales::length(DimId dimension) const {
  const Dimension d = source_.metadata().dimension(dimension);
  return d.is_record() ? source_.block().records : d.length;
}

std::string DimensionScales::name_of(VarId variable) const {
  const std::string name(source_.metadata().variable(variable).name);
  const auto dimension = source_.metadata().find_dimension(name);
  const bool hidden = !is_scale(variable) && dimension && !above_[*dimension];
  return hidden ? "_nc4_non_coord_" + name : name;
}

Result<Handle> DimensionScales::open(const std::string& name) const {
  NMB_ASSIGN(const std::string checked, link_name(name));
  return check_handle(H5Dopen2(group_, checked.c_str(), H5P_DEFAULT),
                      object_text("data set", name));
}

Result<Handle> DimensionScales::open_scale(DimId dimension) const {
  if (!above_[dimension]) return open(std::string(source_.metadata().dimension(dimension).name));
  NMB_ASSIGN(const std::string path, c_text(above_[dimension]->path, "dimension"));
  return check_handle(H5Dopen2(group_, ("/" + path).c_str(), H5P_DEFAULT),
                      object_text("dimension", path));
}

// Returns the path of a dimension without the leading '/'.
std::string DimensionScales::path_of(DimId dimension) const {
  if (above_[dimension]) return above_[dimension]->path;
  const std::string name(source_.metadata().dimension(dimension).name);
  return joined_path(source_.name(), name);
}

int DimensionScales::id_of(DimId dimension) const {
  return static_cast<int>(above_[dimension] ? above_[dimension]->id
                                            : ids_.first_of(source_.name()) + dimension);
}

Status DimensionScales::make_scales() {
  for (DimId d = 0; d < scales_.size(); ++d)
    if (scales_[d] == kGlobal && has_scale_[d] && !above_[d]) NMB_TRY(make_scale(d));
  return {};
}

Status DimensionScales::make_scale(DimId dimension) {
  const Dimension d = source_.metadata().dimension(dimension);
  const bool grows = may_grow(source_.metadata(), dimension);
  const hsize_t now = length(dimension), most = grows ? H5S_UNLIMITED : now;
  const std::string what = object_text("dimension", d.name);
  NMB_ASSIGN(const Handle space, check_handle(H5Screate_simple(1, &now, &most), what));
  NMB_ASSIGN(const Handle dcpl, new_object_properties(H5P_DATASET_CREATE, what));
  NMB_TRY(check_hdf5(
      H5Pset_attr_creation_order(dcpl.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), what));
  if (grows) NMB_TRY(check_hdf5(H5Pset_chunk(dcpl.get(), 1, &kChunk), what));
  NMB_ASSIGN(const Handle scale, check_handle(H5Dcreate_anon(group_, H5T_IEEE_F32BE, space.get(),
                                                             dcpl.get(), H5P_DEFAULT),
                                              what));
  NMB_TRY(link_object(scale.get(), group_, d.name, usual_character_set(d.name), "dimension"));
  char name[80];
  std::snprintf(name, sizeof name, "This is a netCDF dimension but not a netCDF variable. %10llu",
                static_cast<unsigned long long>(now));
  return mark_scale(scale.get(), dimension, name);
}

Status DimensionScales::mark_scale(hid_t data_set, DimId dimension, const std::string& name) const {
  NMB_TRY(put_text(data_set, "CLASS", "DIMENSION_SCALE"));
  NMB_TRY(put_text(data_set, "NAME", name));
  const int id = id_of(dimension);
  return put_attribute(data_set, "_Netcdf4Dimid", H5T_NATIVE_INT, H5T_NATIVE_INT, 0, &id);
}

Status DimensionScales::attach() {
  std::vector<hobj_ref_t> references;
  for (DimId d = 0; d < scales_.size(); ++d) {
    if (!has_scale_[d]) {
      references.emplace_back();
      continue;
    }
    NMB_ASSIGN(const Handle scale, open_scale(d));
    NMB_ASSIGN(const hobj_ref_t reference, reference_to(scale.get()));
    references.push_back(reference);
  }
  std::vector<std::vector<ScaleUse>> uses(scales_.size());
  for (VarId v = 0; v < source_.metadata().variable_count(); ++v)
    NMB_TRY(attach_variable(v, references, &uses));
  for (DimId d = 0; d < scales_.size(); ++d) {
    if (uses[d].empty()) continue;
    const std::string path = path_of(d);
    if (ids_.is_shared(path)) {
      std::vector<ScaleUse>& all = shared_[path];
      all.insert(all.end(), uses[d].begin(), uses[d].end());
      continue;
    }
    NMB_ASSIGN(const Handle scale, open_scale(d));
    NMB_TRY(list_uses(scale.get(), uses[d]));
  }
  return {};
}

Status DimensionScales::attach_variable(VarId variable, const std::vector<hobj_ref_t>& scales,
                                        std::vector<std::vector<ScaleUse>>* uses) const {
  const Variable v = source_.metadata().variable(variable);
  const std::size_t rank = v.dimensions.size();
  if (rank == 0) return {};
  NMB_ASSIGN(const Handle data_set, open(name_of(variable)));
  if (is_scale(variable)) {
    NMB_TRY(mark_scale(data_set.get(), v.dimensions[0], std::string(v.name)));
    if (rank == 1) return {};
    // A scale has no DIMENSION_LIST. netCDF-C identifies the dimensions of a scale by a list of
    // numbers, and reads this list without conversion.
    std::vector<int> ids;
    for (const DimId d : v.dimensions) ids.push_back(id_of(d));
    return put_attribute(data_set.get(), "_Netcdf4Coordinates", H5T_NATIVE_INT, H5T_NATIVE_INT,
                         rank, ids.data());
  }
  if (std::ranges::none_of(v.dimensions, [this](DimId d) { return has_scale_[d]; })) return {};
  NMB_ASSIGN(const hobj_ref_t reference, reference_to(data_set.get()));
  std::vector<hobj_ref_t> used(rank);
  std::vector<hvl_t> list(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    if (!has_scale_[v.dimensions[i]]) continue;
    used[i] = scales[v.dimensions[i]];
    list[i] = {1, &used[i]};
    (*uses)[v.dimensions[i]].push_back({reference, static_cast<int>(i)});
  }
  NMB_ASSIGN(const Handle type, check_handle(H5Tvlen_create(H5T_STD_REF_OBJ), "a sequence"));
  return put_attribute(data_set.get(), "DIMENSION_LIST", type.get(), type.get(), rank, list.data());
}

Status DimensionScales::list_shared_uses(hid_t file, const SharedUses& shared) {
  for (const auto& [path, uses] : shared) {
    NMB_ASSIGN(const Handle scale, check_handle(H5Dopen2(file, path.c_str(), H5P_DEFAULT),
                                                object_text("dimension", path)));
    NMB_TRY(list_uses(scale.get(), uses));
  }
  return {};
}

Status DimensionScales::list_uses(hid_t scale, const std::vector<ScaleUse>& uses) {
  NMB_ASSIGN(const Handle type,
             check_handle(H5Tcreate(H5T_COMPOUND, sizeof(ScaleUse)), "a compound"));
  NMB_TRY(check_hdf5(H5Tinsert(type.get(), "dataset", HOFFSET(ScaleUse, data_set), H5T_STD_REF_OBJ),
                     "a compound"));
  NMB_TRY(check_hdf5(H5Tinsert(type.get(), "dimension", HOFFSET(ScaleUse, place), H5T_NATIVE_INT),
                     "a compound"));
  return put_attribute(scale, "REFERENCE_LIST", type.get(), type.get(), uses.size(), uses.data());
}

}  // namespace nmb::hdf5
