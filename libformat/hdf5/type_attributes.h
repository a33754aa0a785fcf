// Attributes of named datatypes: headers of their own within the hdf5 section of a block
// (spec/hdf5_section.md, property 5).
#pragma once

#include "attributes_out.h"
#include "source_block.h"

namespace nmb::hdf5 {

class TypeAttributes {
 public:
  // property: of `source`; both outlive this.
  TypeAttributes(SourceBlock& source, const Property& property)
      : source_(source), property_(property) {}

  // Makes them and writes the values that lead to no object; sets *references where others do.
  Status define(bool* references, const FindObject& find_object);
  // Writes these others.
  Status write_references(const FindObject& find_object);

 private:
  Status for_each(const std::function<Status(const AttributeOut&, hid_t object)>& visit);

  SourceBlock& source_;
  const Property& property_;
};

}  // namespace nmb::hdf5
