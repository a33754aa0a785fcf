// Creates the attributes of an HDF5 object in order. The values of an attribute can be written
// later. If they refer to objects, these objects must exist first.
#pragma once

#include <string>

#include "export/heap_out.h"
#include "import/export_source.h"
#include "model/metadata.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// An attribute, with the properties that HDF5 needs to create it.
struct AttributeOut {
  Attribute attribute;
  Space space;
  CharacterSet character_set = CharacterSet::kAscii;  // character set of the attribute's name
  // whether all bytes of the value are one string; otherwise each byte is a string
  bool whole_text = false;
};

// Returns an attribute of a group or variable, with its properties from the hdf5 section. `number`
// is the index of the attribute.
Result<AttributeOut> attribute_out(const ExportSource& source, std::uint32_t owner,
                                   std::uint32_t number, const Attribute& attribute);

// Makes the attribute, but does not write its values.
Status make_attribute(const AttributeOut& out, TypesOut& types, hid_t object);
// Writes the values of an attribute that make_attribute() has made.
Status write_attribute(const AttributeOut& out, TypesOut& types, hid_t object,
                       const FindObject& find_object);

// Returns whether an attribute is too large for an object header in the format of HDF5 1.0.
bool is_large(const Attribute& attribute);

}  // namespace nmb::hdf5
