// Converts datatypes of HDF5 to types of a block (spec/extended.md, section 15.1).
#pragma once

#include <hdf5.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/extension.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// The types of one block. Each type is stored once.
class TypesIn {
 public:
  // `path_of` returns the path of a named datatype.
  explicit TypesIn(std::function<Result<std::string>(hid_t named)> path_of)
      : path_of_(std::move(path_of)) {}

  // Returns the type code of `type`, which is a type in memory that H5Dget_type or H5Aget_type
  // returned.
  Result<Type> code_of(hid_t type);
  const TypeTable& table() const { return table_; }

 private:
  Result<Type> add(ExtendedType type);
  Result<ExtendedType> describe(hid_t type);
  Status describe_fields(hid_t compound, ExtendedType* out);
  Result<Type> base_of(hid_t type);

  std::function<Result<std::string>(hid_t)> path_of_;
  TypeTable table_;
  std::map<std::vector<std::byte>, Type> known_;  // key: bytes from encode_type()
  std::map<std::string, Type, std::less<>> met_;  // types without a name; key: HDF5's encoding
};

}  // namespace nmb::hdf5
