// Writes the attributes of named datatypes. The hdf5 section of a block stores these attributes as
// separate headers (spec/hdf5_section.md, property 5).
#pragma once

#include "export/attributes_out.h"
#include "import/export_source.h"

namespace nmb::hdf5 {

class TypeAttributes {
 public:
  // `property` is a property of `source`. `source` and `property` must outlive the object.
  TypeAttributes(ExportSource& source, const Property& property)
      : source_(source), property_(property) {}

  // Makes the attributes, and writes the values that do not refer to objects. If some values refer
  // to objects, sets *references to true.
  Status define(bool* references, const FindObject& find_object);
  // Writes the values that refer to objects.
  Status write_references(const FindObject& find_object);

 private:
  Status for_each(const std::function<Status(const AttributeOut&, hid_t object)>& visit);

  ExportSource& source_;
  const Property& property_;
};

}  // namespace nmb::hdf5
