#include "import/type_attributes.h"

#include "hdf5_error.h"
#include "hdf5_types/type_header.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

Status TypeAttributes::for_each(
    const std::function<Status(const AttributeOut&, hid_t object)>& visit) {
  const TypeTable& types = source_.types().table();
  const std::string what =
      joined_text(object_text("group", "/" + source_.name()), ", attributes of type ",
                  static_cast<unsigned>(property_.type));
  if (!TypeTable::is_extended(property_.type) || !types.has(property_.type) ||
      types.at(property_.type).name.empty())
    return damaged(what + ": the type is not a named type");
  NMB_ASSIGN(const hid_t datatype, source_.types().stored(property_.type));
  const Result<ClassicHeader> header = decode_type_attributes(property_.bytes, types);
  if (!header.ok()) return header.status().of_object(what);
  const Status status =
      header->metadata.try_each_attribute(kGlobal, [&](const Attribute& attribute) {
        return visit({attribute, usual_space(attribute), usual_character_set(attribute.name)},
                     datatype);
      });
  return status.of_object(what);
}

Status TypeAttributes::define(bool* references, const FindObject& find_object) {
  return for_each([&](const AttributeOut& out, hid_t object) -> Status {
    NMB_TRY(make_attribute(out, source_.types(), object));
    if (!source_.types().has_reference(out.attribute.type))
      return write_attribute(out, source_.types(), object, find_object);
    *references = true;
    return {};
  });
}

Status TypeAttributes::write_references(const FindObject& find_object) {
  return for_each([&](const AttributeOut& out, hid_t object) -> Status {
    if (!source_.types().has_reference(out.attribute.type)) return {};
    return write_attribute(out, source_.types(), object, find_object);
  });
}

}  // namespace nmb::hdf5
