// Reads attributes of HDF5 (see attributes_in.h).
#include "attributes_in.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "hdf5_id.h"
#include "space_in.h"

namespace nmb::hdf5 {

namespace {

constexpr std::uint64_t kMostValues = std::uint64_t{1} << 30;  // bytes of an attribute

// Returns the names of an object's attributes with their character sets.
std::vector<std::pair<std::string, CharacterSet>> attribute_names(hid_t object, bool tracked,
                                                                  const std::string& text) {
  std::vector<std::pair<std::string, CharacterSet>> names;
  const auto take = [](hid_t, const char* name, const H5A_info_t* info, void* out) -> herr_t {
    static_cast<std::vector<std::pair<std::string, CharacterSet>>*>(out)->emplace_back(
        name, static_cast<CharacterSet>(info->cset));
    return 0;
  };
  hsize_t at = 0;
  checked(H5Aiterate2(object, tracked ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, H5_ITER_INC, &at, take,
                      &names),
          text);
  return names;
}

// Each value in memory is a list of references to scales; returns the first of each.
std::vector<std::string> first_scales(const FileIn& file, std::span<const std::byte> values) {
  std::vector<std::string> paths(values.size() / sizeof(hvl_t));
  for (std::size_t i = 0; i < paths.size(); ++i) {
    hvl_t list;
    std::memcpy(&list, values.data() + i * sizeof list, sizeof list);
    if (list.len > 0) paths[i] = file.target_of(list.p);
  }
  return paths;
}

void read_values(const FileIn& file, TypesIn& types, hid_t attribute, AttributeIn* out) {
  const std::string object = "attribute " + out->name;
  const Id type(H5Aget_type(attribute), H5Tclose, object);
  const Id space(H5Aget_space(attribute), H5Sclose, object);
  out->space = space_in(space, object);
  out->type = types.code_of(type);
  const TypeTable& table = types.table();
  const std::uint64_t count = out->count = elements_of(out->space, object);
  const std::uint64_t step = H5Tget_size(type), size = table.value_size(out->type);
  if (count > file.size || (count > 0 && count > kMostValues / std::max(step, size)))
    throw Failure(Code::kDamaged, object + ": found " + std::to_string(count) + " values");
  if (count == 0) return;
  ReadValues read{std::vector<std::byte>(count * step), type, -1};
  checked(H5Aread(attribute, type, read.bytes.data()), object);
  if (!table.needs_heap(out->type)) {
    out->values = std::move(read.bytes);
    return;
  }
  read.space = space;
  take_values(file, types, read.bytes, lists_objects(out->name, type), out);
}

}  // namespace

bool lists_objects(const std::string& name, hid_t type) {
  if (name != kDimensionList || H5Tget_class(type) != H5T_VLEN) return false;
  const Id base(H5Tget_super(type), H5Tclose, kDimensionList);
  return H5Tequal(base, H5T_STD_REF_OBJ) > 0;
}

void take_values(const FileIn& file, const TypesIn& types, std::span<const std::byte> memory,
                 bool lists_objects, AttributeIn* out) {
  const TypeTable& table = types.table();
  if (!table.needs_heap(out->type)) {
    out->values.assign(memory.begin(), memory.end());
    return;
  }
  Heap heap(out->count * table.value_size(out->type));
  encode_values(table, out->type, file.references, memory.data(), out->count, &out->values, &heap);
  const std::vector<std::byte> rest = heap.take();
  out->values.insert(out->values.end(), rest.begin(), rest.end());
  if (lists_objects) out->scales = first_scales(file, memory);
}

std::vector<AttributeIn> attributes_in(const FileIn& file, TypesIn& types, hid_t object,
                                       const std::string& path, bool tracked) {
  const std::string text = "attributes of " + path;
  std::vector<AttributeIn> attributes;
  for (auto& [name, character_set] : attribute_names(object, tracked, text)) {
    const Id attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, text);
    AttributeIn& out = attributes.emplace_back();
    out.name = name;
    out.character_set = character_set;
    read_values(file, types, attribute, &out);
  }
  return attributes;
}

}  // namespace nmb::hdf5
