// Attributes of named datatypes (see type_attributes.h).
#include "type_attributes.h"

#include <algorithm>

#include "hdf5_error.h"
#include "nmb/classic.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

constexpr std::size_t kLengthField = 12;  // offset of the header's length, after magic and numrecs

Result<std::size_t> header_length(std::span<const std::byte> header) {
  if (header.size() >= kLengthField + 8) {
    const auto length = load_be<std::uint64_t>(header.data() + kLengthField);
    if (length >= kLengthField + 8 && length <= header.size()) return length;
  }
  return damaged("found no valid header of attributes in ", header.size(), " bytes");
}

// Decodes a header. To do so, makes a body from the header and the sections of a block that has
// only the types.
Result<ClassicHeader> decode(std::span<const std::byte> header, const TypeTable& types) {
  auto extension = std::make_shared<Extension>();
  extension->types = types;
  Metadata nothing;
  nothing.set_extension(std::move(extension));
  NMB_ASSIGN(const std::vector<std::byte> other, encode_extended_body(nothing, 0));
  NMB_ASSIGN(const std::size_t own, header_length(other));
  NMB_ASSIGN(const std::size_t length, header_length(header));
  std::vector<std::byte> body(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(length));
  body.resize(round_up(length, 8));
  body.insert(body.end(), other.begin() + static_cast<std::ptrdiff_t>(round_up(own, 8)),
              other.end());
  DecodeOptions options;
  options.values_follow = false;
  return decode_classic_header(MemorySource(body), options);
}

}  // namespace

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
  const Result<ClassicHeader> header = decode(property_.bytes, types);
  if (!header.ok()) return header.status().of_object(what);
  const Status status =
      header->metadata.try_each_attribute(kGlobal, [&](const Attribute& attribute) {
        const Space space = attribute.count == 1
                                ? Space{SpaceClass::kScalar, {}, {}}
                                : Space{SpaceClass::kSimple, {attribute.count}, {attribute.count}};
        return visit({attribute, space, usual_character_set(attribute.name)}, datatype);
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
