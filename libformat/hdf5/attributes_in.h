// Reads attributes of HDF5 in the form that a block stores.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "file_in.h"
#include "hdf5/model/hdf5_section.h"
#include "nmb/status.h"
#include "types_in.h"

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
  // For DIMENSION_LIST: for each dimension, the path of its first scale in the file, or an empty
  // string.
  std::vector<std::string> scales;

  bool operator==(const AttributeIn&) const = default;
};

// Returns the attributes of an object, in order of creation if this order is tracked, otherwise in
// order of names. `path` is the path of the object, for messages.
Result<std::vector<AttributeIn>> attributes_in(const FileIn& file, TypesIn& types, hid_t object,
                                               const std::string& path, bool tracked);

// Sets the values of *out from HDF5's form in memory, and the scales if `lists_objects` is true.
// All other fields of *out must be set.
Status take_values(const FileIn& file, const TypesIn& types, std::span<const std::byte> memory,
                   bool lists_objects, AttributeIn* out);
// Returns whether an attribute with this name, and this type in memory, lists scales as references
// to objects.
Result<bool> lists_objects(const std::string& name, hid_t type);

}  // namespace nmb::hdf5
