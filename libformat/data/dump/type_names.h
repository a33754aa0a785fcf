// TypeNames finds the named type of a file that equals another type. It is needed because HDF5
// stores a copy of a type with each variable and in each type that contains it, and netCDF shows
// the name of the type that equals the copy.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/extension.h"
#include "wire/block_entry.h"

namespace nmb {

// Whether netCDF and CDL can declare a type: it has a name, and is a compound, a sequence, an
// opaque type or an enum.
bool is_user_type(const ExtendedType& type);

// Returns a digest for each type of a table. Two types have the same digest if their values are the
// same in memory. Names, byte orders and offsets of fields do not matter.
std::vector<Digest> type_digests(const TypeTable& types);

class TypeNames {
 public:
  // Adds the type with this code. is_user_type() must be true for it. If several types are equal,
  // the name of the first type is used. digests: type_digests(types).
  void add(const TypeTable& types, const std::vector<Digest>& digests, Type code);
  // Returns the path of the named type with this digest.
  std::optional<std::string> find(const Digest& digest) const;
  bool empty() const { return paths_.empty(); }

 private:
  std::map<Digest, std::string> paths_;
};

}  // namespace nmb
