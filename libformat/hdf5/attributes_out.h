// Attributes of HDF5: made in their order, written when all that they may lead to is there.
#pragma once

#include <string>

#include "heap_out.h"
#include "nmb/metadata.h"
#include "nmb/status.h"
#include "source_block.h"

namespace nmb::hdf5 {

// An attribute of an object as HDF5 gets it.
struct AttributeOut {
  Attribute attribute;
  Space space;
  CharacterSet character_set = CharacterSet::kAscii;  // of its name
  bool whole_text = false;                            // one string, not as many of one byte
};

// ASCII unless a byte is above 127.
CharacterSet usual_character_set(std::string_view name);

// The number-th attribute of a group or variable, with what the hdf5 section says of it.
Result<AttributeOut> attribute_out(const SourceBlock& source, std::uint32_t owner,
                                   std::uint32_t number, const Attribute& attribute);

// Without values.
Status make_attribute(const AttributeOut& out, TypesOut& types, hid_t object);
// The values of one that was made.
Status write_attribute(const AttributeOut& out, TypesOut& types, hid_t object,
                       const FindObject& find_object);

// Whether attributes take more than what an object of HDF5 1.0's form holds in its header.
bool is_large(const Attribute& attribute);

}  // namespace nmb::hdf5
