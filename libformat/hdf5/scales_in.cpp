// Names of dimensions (see scales_in.h).
#include "scales_in.h"

#include <cstring>
#include <optional>

#include "block_in.h"
#include "hdf5_id.h"

namespace nmb::hdf5 {

namespace {

bool has(hid_t object, const char* attribute) { return H5Aexists(object, attribute) > 0; }

// The integers of an attribute of `count` of them.
std::vector<std::int64_t> integers_of(hid_t object, const char* name, std::size_t count) {
  const Id attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose, name);
  const Id type(H5Aget_type(attribute), H5Tclose, name);
  const Id space(H5Aget_space(attribute), H5Sclose, name);
  if (H5Tget_class(type) != H5T_INTEGER ||
      H5Sget_simple_extent_npoints(space) != static_cast<hssize_t>(count))
    return {};
  std::vector<std::int64_t> values(count);
  checked(H5Aread(attribute, H5T_NATIVE_INT64, values.data()), name);
  return values;
}

bool is_scale(hid_t object) {
  constexpr char kScale[] = "DIMENSION_SCALE";
  if (!has(object, "CLASS")) return false;
  const Id attribute(H5Aopen(object, "CLASS", H5P_DEFAULT), H5Aclose, "CLASS");
  const Id type(H5Aget_type(attribute), H5Tclose, "CLASS");
  const Id space(H5Aget_space(attribute), H5Sclose, "CLASS");
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
      H5Tget_size(type) < sizeof kScale - 1 || H5Tget_size(type) > 64 ||
      H5Sget_simple_extent_npoints(space) != 1)
    return false;
  char text[65] = {};
  checked(H5Aread(attribute, type, text), "CLASS");
  return std::strcmp(text, kScale) == 0;
}

// The paths of the first scale of each dimension.
void take_list(const FileIn& file, hid_t data_set, std::vector<std::string>* paths) {
  constexpr const char* kList = "DIMENSION_LIST";
  const Id attribute(H5Aopen(data_set, kList, H5P_DEFAULT), H5Aclose, kList);
  const Id type(H5Aget_type(attribute), H5Tclose, kList);
  const Id space(H5Aget_space(attribute), H5Sclose, kList);
  if (H5Tget_class(type) != H5T_VLEN ||
      H5Sget_simple_extent_npoints(space) != static_cast<hssize_t>(paths->size()))
    return;
  const Id base(H5Tget_super(type), H5Tclose, kList);
  if (H5Tequal(base, H5T_STD_REF_OBJ) <= 0) return;
  std::vector<hvl_t> lists(paths->size());
  checked(H5Aread(attribute, type, lists.data()), kList);
  for (std::size_t i = 0; i < lists.size(); ++i)
    if (lists[i].len > 0) (*paths)[i] = file.target_of(lists[i].p);
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, lists.data());
}

}  // namespace

std::vector<std::string> scales_of(FileIn& file, const std::string& path, hid_t data_set,
                                   std::size_t rank) {
  std::vector<std::string> paths(rank);
  if (rank == 0) return paths;
  const bool scale = is_scale(data_set);
  if (scale && has(data_set, "_Netcdf4Dimid")) {
    const std::vector<std::int64_t> number = integers_of(data_set, "_Netcdf4Dimid", 1);
    if (!number.empty()) file.scales.emplace(number.front(), path);
  }
  if (scale && rank == 1) return {path};
  if (has(data_set, "DIMENSION_LIST")) {
    take_list(file, data_set, &paths);
  } else if (has(data_set, "_Netcdf4Coordinates")) {
    const std::vector<std::int64_t> numbers = integers_of(data_set, "_Netcdf4Coordinates", rank);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (const auto found = file.scales.find(numbers[i]); found != file.scales.end())
        paths[i] = found->second;
  }
  return paths;
}

}  // namespace nmb::hdf5
