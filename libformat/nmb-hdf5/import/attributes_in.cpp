#include "import/attributes_in.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "hdf5_error.h"
#include "hdf5_types/memory_layout.h"
#include "import/hdf5_visitor.h"
#include "import/space_in.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

// The attribute in which a scale lists the data sets that use it.
constexpr std::string_view kUserList = "REFERENCE_LIST";

bool is_object_reference(const TypeTable& types, Type type) {
  return TypeTable::is_extended(type) && types.at(type).type_class == TypeClass::kReference &&
         types.at(type).reference == ReferenceKind::kObject;
}

// Maximum number of bytes in the values of an attribute.
constexpr std::uint64_t kMostValues = std::uint64_t{1} << 30;

// The references of a DIMENSION_LIST to objects that exist. Programs that delete a scale leave its
// references in the lists of the data sets that used it.
struct ScaleLists {
  std::vector<std::vector<hobj_ref_t>> references;  // by dimension
  std::vector<hvl_t> values;        // the lists in HDF5's form in memory; they use `references`
  std::vector<std::string> scales;  // path of the first scale of each dimension; may be empty
};

Result<ScaleLists> scale_lists(const FileIn& file, std::span<const std::byte> memory) {
  ScaleLists out;
  const std::size_t count = memory.size() / sizeof(hvl_t);
  out.references.resize(count);
  out.values.resize(count);
  out.scales.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    hvl_t list;
    std::memcpy(&list, memory.data() + i * sizeof list, sizeof list);
    std::vector<hobj_ref_t>& kept = out.references[i];
    for (std::size_t k = 0; k < list.len; ++k) {
      const auto* const reference = static_cast<const hobj_ref_t*>(list.p) + k;
      NMB_ASSIGN(std::optional<std::string> path, file.target_of(reference));
      if (!path) {
        ++file.lost->count;
        continue;
      }
      if (kept.empty()) out.scales[i] = *std::move(path);
      kept.push_back(*reference);
    }
    out.values[i] = {kept.size(), kept.data()};
  }
  return out;
}

// Returns the entries of a REFERENCE_LIST whose data sets exist. `memory` has entries of `step`
// bytes in HDF5's form in memory. Programs that delete a data set leave its entries in the lists of
// its scales; HDF5 and netCDF do not use them.
Result<std::vector<std::byte>> live_entries(const FileIn& file, const TypeTable& types, Type type,
                                            std::span<const std::byte> memory) {
  const std::uint64_t step = memory_size(types, type);
  const ExtendedType& entry = types.at(type);
  std::vector<std::byte> out;
  for (; memory.size() >= step; memory = memory.subspan(step)) {
    bool is_live = true;
    for (const ExtendedType::Field& field : entry.fields) {
      if (!is_object_reference(types, field.type)) continue;
      NMB_ASSIGN(const std::optional<std::string> path,
                 file.target_of(memory.data() + memory_offset(types, entry, field)));
      is_live = is_live && path.has_value();
    }
    if (is_live)
      out.insert(out.end(), memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(step));
  }
  return out;
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
  const std::uint64_t lost = file.lost->count;
  ScaleLists lists;
  std::vector<std::byte> entries;
  if (lists_objects) {
    NMB_ASSIGN(lists, scale_lists(file, memory));
    memory = std::as_bytes(std::span(lists.values));
    out->scales = std::move(lists.scales);
  } else if (out->name == kUserList && out->space.lengths.size() == 1 &&
             table.at(out->type).type_class == TypeClass::kCompound) {
    NMB_ASSIGN(entries, live_entries(file, table, out->type, memory));
    const std::uint64_t count = entries.size() / memory_size(table, out->type);
    if (count != out->count) out->space.lengths = out->space.maximum = {count};
    out->count = count;
    memory = entries;
  }
  Heap heap(out->count * table.value_size(out->type));
  NMB_TRY(encode_values(table, out->type, file.references, memory.data(), out->count, &out->values,
                        &heap));
  if (file.lost->count != lost) file.lost->attributes.push_back(out->name);
  const std::vector<std::byte> rest = heap.take();
  out->values.insert(out->values.end(), rest.begin(), rest.end());
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
  // A scale without users has no list of users.
  std::erase_if(attributes, [](const AttributeIn& a) {
    return a.name == kUserList && a.count == 0 && a.space.space_class == SpaceClass::kSimple;
  });
  return attributes;
}

}  // namespace nmb::hdf5
