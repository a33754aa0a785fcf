// Reads attributes of HDF5 in the form that a block stores.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hdf5_types/hdf5_section.h"
#include "import/file_in.h"
#include "import/types_in.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// The attribute that lists the scales of a data set's dimensions.
inline constexpr const char* kDimensionList = "DIMENSION_LIST";

struct AttributeIn {
  std::string name;
  CharacterSet character_set;  // character set of the name
  Type type;
  Space space;
  std::uint64_t count = 0;        // number of values
  std::vector<std::byte> values;  // values in the form that a block stores
  // If the attribute is DIMENSION_LIST: the path of the first scale of each dimension. The path is
  // empty if the dimension has no scale.
  std::vector<std::string> scales;

  bool operator==(const AttributeIn&) const = default;
};

// Returns the attributes of an object, in order of creation if this order is tracked, otherwise in
// the order of the object header. netCDF shows attributes in the same order. `path` is the path of
// the object, for messages.
Result<std::vector<AttributeIn>> attributes_in(const FileIn& file, TypesIn& types, hid_t object,
                                               const std::string& path);

// Converts values from HDF5's form in memory, and stores them in out->values. If `lists_objects` is
// true, also sets out->scales. All other fields of *out must be set before. References of
// DIMENSION_LIST and entries of REFERENCE_LIST whose objects no longer exist are left out, and
// out->count and out->space are changed accordingly.
Status take_values(const FileIn& file, const TypesIn& types, std::span<const std::byte> memory,
                   bool lists_objects, AttributeIn* out);
// Returns whether an attribute is a DIMENSION_LIST whose values are lists of references to objects.
// `type` is the attribute's type in memory.
Result<bool> lists_objects(const std::string& name, hid_t type);

}  // namespace nmb::hdf5
