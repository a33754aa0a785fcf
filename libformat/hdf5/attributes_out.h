// Makes attributes of HDF5 in order. Their values are written later, when all objects to which the
// values may refer exist.
#pragma once

#include <string>

#include "heap_out.h"
#include "nmb/metadata.h"
#include "nmb/status.h"
#include "source_block.h"

namespace nmb::hdf5 {

// An attribute of an object in the form that HDF5 takes.
struct AttributeOut {
  Attribute attribute;
  Space space;
  CharacterSet character_set = CharacterSet::kAscii;  // character set of the attribute's name
  bool whole_text = false;  // whether the value is one string instead of one string for each byte
};

// Returns kAscii, or kUtf8 if a byte of the name is above 127.
CharacterSet usual_character_set(std::string_view name);

// Returns an attribute of a group or variable, with its properties from the hdf5 section. `number`
// is the index of the attribute.
Result<AttributeOut> attribute_out(const SourceBlock& source, std::uint32_t owner,
                                   std::uint32_t number, const Attribute& attribute);

// Makes the attribute, but does not write its values.
Status make_attribute(const AttributeOut& out, TypesOut& types, hid_t object);
// Writes the values of an attribute that was made.
Status write_attribute(const AttributeOut& out, TypesOut& types, hid_t object,
                       const FindObject& find_object);

// Returns whether an attribute is too large for an object header in the format of HDF5 1.0.
bool is_large(const Attribute& attribute);

}  // namespace nmb::hdf5
