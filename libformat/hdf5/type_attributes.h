// Attributes of named datatypes, which are separate headers in the hdf5 section of a block
// (spec/hdf5_section.md, property 5).
#pragma once

#include "attributes_out.h"
#include "source_block.h"

namespace nmb::hdf5 {

class TypeAttributes {
 public:
  // `property` is a property of `source`. Both must outlive the object.
  TypeAttributes(SourceBlock& source, const Property& property)
      : source_(source), property_(property) {}

  // Makes the attributes, and writes the values that do not refer to objects. Sets *references if
  // there are other values.
  Status define(bool* references, const FindObject& find_object);
  // Writes the values that refer to objects.
  Status write_references(const FindObject& find_object);

 private:
  Status for_each(const std::function<Status(const AttributeOut&, hid_t object)>& visit);

  SourceBlock& source_;
  const Property& property_;
};

}  // namespace nmb::hdf5
