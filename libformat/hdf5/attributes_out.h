// Makes attributes of HDF5 in order; writes their values after all objects to which these may refer
// were made.
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
  CharacterSet character_set = CharacterSet::kAscii;  // of its name
  bool whole_text = false;                            // one string, not one string for each byte
};

// Returns an attribute of a group or variable, with its properties from the hdf5 section. number:
// its index.
Result<AttributeOut> attribute_out(const SourceBlock& source, std::uint32_t owner,
                                   std::uint32_t number, const Attribute& attribute);

// Makes the attribute without values.
Status make_attribute(const AttributeOut& out, TypesOut& types, hid_t object);
// Writes the values of an attribute that was made.
Status write_attribute(const AttributeOut& out, TypesOut& types, hid_t object,
                       const FindObject& find_object);

// Returns whether an attribute is too large for an object header of HDF5 1.0's form.
bool is_large(const Attribute& attribute);

}  // namespace nmb::hdf5
