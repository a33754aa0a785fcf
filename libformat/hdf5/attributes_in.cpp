// Reads attributes of HDF5 (see attributes_in.h).
#include "attributes_in.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "hdf5_error.h"
#include "hdf5_visitor.h"
#include "space_in.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

// Maximum number of bytes in the values of an attribute.
constexpr std::uint64_t kMostValues = std::uint64_t{1} << 30;

// Returns the path of the first scale in each value of `values`. A value is a list of references to
// scales, in HDF5's form in memory.
Result<std::vector<std::string>> first_scales(const FileIn& file,
                                              std::span<const std::byte> values) {
  std::vector<std::string> paths(values.size() / sizeof(hvl_t));
  for (std::size_t i = 0; i < paths.size(); ++i) {
    hvl_t list;
    std::memcpy(&list, values.data() + i * sizeof list, sizeof list);
    if (list.len == 0) continue;
    NMB_ASSIGN(paths[i], file.target_of(list.p));
  }
  return paths;
}

Status read_values(const FileIn& file, TypesIn& types, hid_t attribute, AttributeIn* out) {
  const std::string object = "attribute " + out->name;
  NMB_ASSIGN(const Handle type, read_handle(H5Aget_type(attribute), object));
  NMB_ASSIGN(const Handle space, read_handle(H5Aget_space(attribute), object));
  NMB_ASSIGN(out->space, space_in(space.get(), object));
  NMB_ASSIGN(out->type, types.code_of(type.get()));
  NMB_ASSIGN(out->count, elements_of(out->space, object));
  const TypeTable& table = types.table();
  const std::uint64_t count = out->count;
  const std::uint64_t step = H5Tget_size(type.get()), size = table.value_size(out->type);
  if (count > file.size || (count > 0 && count > kMostValues / std::max(step, size)))
    return damaged(object, ": found ", count, " values");
  if (count == 0) return {};
  ReadValues read{std::vector<std::byte>(count * step), type.get(), -1};
  NMB_TRY(check_read(H5Aread(attribute, type.get(), read.bytes.data()), object));
  if (!table.needs_heap(out->type)) {
    out->values = std::move(read.bytes);
    return {};
  }
  read.space = space.get();
  NMB_ASSIGN(const bool has_scales, lists_objects(out->name, type.get()));
  return take_values(file, types, read.bytes, has_scales, out);
}

}  // namespace

Result<bool> lists_objects(const std::string& name, hid_t type) {
  if (name != kDimensionList || H5Tget_class(type) != H5T_VLEN) return false;
  NMB_ASSIGN(const Handle base, read_handle(H5Tget_super(type), kDimensionList));
  return H5Tequal(base.get(), H5T_STD_REF_OBJ) > 0;
}

Status take_values(const FileIn& file, const TypesIn& types, std::span<const std::byte> memory,
                   bool lists_objects, AttributeIn* out) {
  const TypeTable& table = types.table();
  if (!table.needs_heap(out->type)) {
    out->values.assign(memory.begin(), memory.end());
    return {};
  }
  Heap heap(out->count * table.value_size(out->type));
  NMB_TRY(encode_values(table, out->type, file.references, memory.data(), out->count, &out->values,
                        &heap));
  const std::vector<std::byte> rest = heap.take();
  out->values.insert(out->values.end(), rest.begin(), rest.end());
  if (lists_objects) {
    NMB_ASSIGN(out->scales, first_scales(file, memory));
  }
  return {};
}

Result<std::vector<AttributeIn>> attributes_in(const FileIn& file, TypesIn& types, hid_t object,
                                               const std::string& path) {
  const std::string text = "attributes of " + path;
  std::vector<AttributeIn> attributes;
  Hdf5Visitor<hid_t, const char*, const H5A_info_t*> visitor(
      [&](hid_t, const char* name, const H5A_info_t* info) -> Status {
        AttributeIn& attribute = attributes.emplace_back();
        attribute.name = name;
        attribute.character_set = static_cast<CharacterSet>(info->cset);
        return {};
      });
  hsize_t at = 0;
  const herr_t visited =
      H5Aiterate2(object, H5_INDEX_CRT_ORDER, H5_ITER_INC, &at, visitor.call, &visitor);
  NMB_TRY(visitor.status());
  NMB_TRY(check_read(visited, text));
  for (AttributeIn& attribute : attributes) {
    NMB_ASSIGN(const Handle opened,
               read_handle(H5Aopen(object, attribute.name.c_str(), H5P_DEFAULT), text));
    NMB_TRY(read_values(file, types, opened.get(), &attribute));
  }
  return attributes;
}

}  // namespace nmb::hdf5
