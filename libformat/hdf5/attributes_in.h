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
  CharacterSet character_set;  // of the name
  Type type;
  Space space;
  std::uint64_t count = 0;        // of values
  std::vector<std::byte> values;  // in the form of a block
  // For DIMENSION_LIST: for each dimension the path in the file of its first scale; empty: none.
  std::vector<std::string> scales;

  bool operator==(const AttributeIn&) const = default;
};

// Those of an object, in the order of their creation if that is tracked, else of their names.
// path: of the object, for messages.
Result<std::vector<AttributeIn>> attributes_in(const FileIn& file, TypesIn& types, hid_t object,
                                               const std::string& path, bool tracked);

// Sets values, and scales if it lists_objects(): of `out`, which has the rest, from what HDF5 has
// in memory.
Status take_values(const FileIn& file, const TypesIn& types, std::span<const std::byte> memory,
                   bool lists_objects, AttributeIn* out);
// Returns whether an attribute of this type in memory names scales by references to objects.
Result<bool> lists_objects(const std::string& name, hid_t type);

}  // namespace nmb::hdf5
