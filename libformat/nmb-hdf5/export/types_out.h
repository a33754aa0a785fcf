// Converts the types of a block to datatypes of HDF5, without loss (spec/extended.md,
// section 15.1). Classic types become the big-endian standard types; kChar becomes a string of one
// byte.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "handle.h"
#include "model/extension.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// The named datatypes of a file, by path without the first '/'.
using NamedTypes = std::map<std::string, Handle, std::less<>>;

hid_t classic_datatype(Type type);

std::string path_of(const ExtendedType& type);

class TypesOut {
 public:
  // All arguments must outlive the object.
  TypesOut(const TypeTable& types, hid_t file, NamedTypes& named)
      : types_(types), file_(file), named_(named), made_(types.size()), nodes_(types.size()) {}

  const TypeTable& table() const { return types_; }
  // Returns the HDF5 datatype of values in memory. The same datatype is used for fields and
  // elements of other types. The result is valid as long as this TypesOut exists. Errors:
  // kUnsupported if HDF5 has no datatype for `type`.
  Result<hid_t> plain(Type type);
  // Returns the HDF5 datatype of data sets and attributes in the file. For a named type, this is
  // the file's named datatype, which is made without a link if the file does not have it yet.
  // Errors: kDamaged if an existing named datatype differs.
  Result<hid_t> stored(Type type);
  // Return the size of a value in memory, and the offsets of its fields in memory
  // (memory_layout.h). Call plain() for `type` first, because it computes them.
  std::size_t memory_bytes(Type type) const {
    return TypeTable::is_extended(type) ? of(type).bytes : type_size(type);
  }
  const std::vector<std::uint64_t>& field_offsets(Type type) const { return of(type).offsets; }
  // Returns whether values of `type` contain references.
  bool has_reference(Type type) const;

 private:
  struct MadeType {
    Handle id;  // invalid if the type was not made yet
    std::size_t bytes = 0;
    std::vector<std::uint64_t> offsets;  // offsets of a compound's fields
  };
  const MadeType& of(Type type) const {
    return made_[static_cast<std::uint32_t>(type) - TypeTable::kFirst];
  }
  Result<Handle> make(const ExtendedType& type);
  Result<Handle> make_atomic(const ExtendedType& type);
  Result<Handle> make_compound(Type code, const ExtendedType& type,
                               std::vector<std::uint64_t>* offsets);
  Result<Handle> make_enum(const ExtendedType& type);
  Status count_nodes(Type type, std::uint64_t* nodes);

  const TypeTable& types_;
  const hid_t file_;
  NamedTypes& named_;
  std::vector<MadeType> made_;
  // For each type, the number of types in it, including the type itself; 0 if not counted yet.
  std::vector<std::uint64_t> nodes_;
  std::uint64_t all_nodes_ = 0;  // total number of types in the types that were made
};

}  // namespace nmb::hdf5
