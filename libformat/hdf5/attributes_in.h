// Attributes of HDF5, as a block gets them.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "file_in.h"
#include "hdf5/model/hdf5_section.h"
#include "types_in.h"

namespace nmb::hdf5 {

// The attribute that tells which data sets are the scales of a data set's dimensions.
inline constexpr const char* kDimensionList = "DIMENSION_LIST";

struct AttributeIn {
  std::string name;
  CharacterSet character_set;  // of the name
  Type type;
  Space space;
  std::uint64_t count = 0;        // of values
  std::vector<std::byte> values;  // as a block has them
  // Of DIMENSION_LIST: for each dimension the path in the file of its first scale; empty: none.
  std::vector<std::string> scales;

  bool operator==(const AttributeIn&) const = default;
};

// Those of an object, in the order of their creation if that is tracked, else of their names.
// path: of the object, for messages. Throws Failure.
std::vector<AttributeIn> attributes_in(const FileIn& file, TypesIn& types, hid_t object,
                                       const std::string& path, bool tracked);

// Sets values, and scales if it lists_objects(): of `out`, which has the rest, from what HDF5 has
// in memory. Throws Failure.
void take_values(const FileIn& file, const TypesIn& types, std::span<const std::byte> memory,
                 bool lists_objects, AttributeIn* out);
// Whether an attribute of a type in memory tells scales by references to objects.
bool lists_objects(const std::string& name, hid_t type);

}  // namespace nmb::hdf5
