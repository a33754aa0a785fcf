#include "export/attributes_out.h"

#include <algorithm>

#include "export/space_out.h"
#include "hdf5_error.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

constexpr std::uint64_t kMostHeldAttribute = 1 << 30;

Status of_attribute(const Attribute& attribute, const Status& status) {
  return status.of_object(joined_text("attribute ", attribute.name));
}

// Returns the datatype of an attribute whose value is one string.
Result<Handle> text_type(const Attribute& attribute) {
  NMB_ASSIGN(Handle type, check_handle(H5Tcopy(H5T_C_S1), "a string"));
  NMB_TRY(check_hdf5(H5Tset_size(type.get(), std::max<std::size_t>(attribute.values.size(), 1)),
                     "a string"));
  return type;
}

Status make(const AttributeOut& out, TypesOut& types, hid_t object) {
  NMB_ASSIGN(const std::string name, c_text(out.attribute.name, "name"));
  NMB_ASSIGN(hid_t datatype, types.stored(out.attribute.type));
  Handle text;
  if (out.whole_text) {
    NMB_ASSIGN(text, text_type(out.attribute));
    datatype = text.get();
  }
  NMB_ASSIGN(const Handle space, make_space(out.space));
  NMB_ASSIGN(const Handle acpl, check_handle(H5Pcreate(H5P_ATTRIBUTE_CREATE), "properties"));
  NMB_TRY(check_hdf5(H5Pset_char_encoding(acpl.get(), static_cast<H5T_cset_t>(out.character_set)),
                     "character set"));
  return check_handle(
             H5Acreate2(object, name.c_str(), datatype, space.get(), acpl.get(), H5P_DEFAULT),
             "creation")
      .status();
}

Status write(const AttributeOut& out, TypesOut& types, hid_t object,
             const FindObject& find_object) {
  const Attribute& attribute = out.attribute;
  if (attribute.count == 0) return {};
  NMB_ASSIGN(const std::string name, c_text(attribute.name, "name"));
  NMB_ASSIGN(hid_t datatype, types.plain(attribute.type));
  Handle text;
  if (out.whole_text) {
    NMB_ASSIGN(text, text_type(attribute));
    datatype = text.get();
  }
  const std::byte* values = attribute.values.data();
  std::vector<std::byte> memory;
  const MemorySource region(attribute.values);
  HeapOut heap(types, region, find_object);
  if (types.table().needs_heap(attribute.type)) {
    memory.resize(attribute.count * types.memory_bytes(attribute.type));
    NMB_TRY(heap.convert(attribute.type, attribute.values, attribute.count, kMostHeldAttribute,
                         memory.data()));
    values = memory.data();
  }
  NMB_ASSIGN(const Handle made,
             check_handle(H5Aopen(object, name.c_str(), H5P_DEFAULT), "opening"));
  return check_hdf5(H5Awrite(made.get(), datatype, values), "values");
}

}  // namespace

Result<AttributeOut> attribute_out(const ExportSource& source, std::uint32_t owner,
                                   std::uint32_t number, const Attribute& attribute) {
  NMB_ASSIGN(Space space, source.space(owner, number, attribute));
  const Property* const p = source.find(Property::Number::kCharacterSet, owner, number);
  return AttributeOut{attribute, std::move(space),
                      p ? p->character_set : usual_character_set(attribute.name),
                      source.is_classic() && attribute.type == Type::kChar};
}

Status make_attribute(const AttributeOut& out, TypesOut& types, hid_t object) {
  return of_attribute(out.attribute, make(out, types, object));
}

Status write_attribute(const AttributeOut& out, TypesOut& types, hid_t object,
                       const FindObject& find_object) {
  return of_attribute(out.attribute, write(out, types, object, find_object));
}

bool is_large(const Attribute& attribute) {
  constexpr std::uint64_t kMost = 60000;  // 64 KiB minus the usual sizes of type, space and name
  return attribute.values.size() > kMost;
}

}  // namespace nmb::hdf5
