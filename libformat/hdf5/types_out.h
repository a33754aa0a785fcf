// The types of a block as datatypes of HDF5, exactly (spec/format.md, section 15.1): classic ones
// are the big-endian standard types, kChar a string of one byte.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "handle.h"
#include "nmb/extension.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

// The named datatypes of a file, by path without the first '/'.
using NamedTypes = std::map<std::string, Handle, std::less<>>;

std::string path_of(const ExtendedType& type);

class TypesOut {
 public:
  // All outlive this.
  TypesOut(const TypeTable& types, hid_t file, NamedTypes& named)
      : types_(types), file_(file), named_(named), made_(types.size()), nodes_(types.size()) {}

  const TypeTable& table() const { return types_; }
  // Of values in memory, of fields and elements. Valid as long as this. kUnsupported: HDF5 has no
  // such type.
  Result<hid_t> plain(Type type);
  // Of data sets and attributes: the named datatype where it is one, made (without a link) if it is
  // not there yet. kDamaged: the one that is there is another.
  Result<hid_t> stored(Type type);
  // Bytes of a value in memory, and where its fields lie there (as memory_layout.h says, worked out
  // once). Of a type that plain() gave.
  std::size_t memory_bytes(Type type) const {
    return TypeTable::is_extended(type) ? of(type).bytes : type_size(type);
  }
  const std::vector<std::uint64_t>& field_offsets(Type type) const { return of(type).offsets; }
  // Whether values lead to objects.
  bool has_reference(Type type) const;

 private:
  struct Made {
    Handle id;  // none: not made yet
    std::size_t bytes = 0;
    std::vector<std::uint64_t> offsets;  // of a compound's fields
  };
  const Made& of(Type type) const {
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
  std::vector<Made> made_;
  std::vector<std::uint64_t> nodes_;  // types within it, itself included; 0: not counted yet
  std::uint64_t all_nodes_ = 0;       // of those made
};

}  // namespace nmb::hdf5
