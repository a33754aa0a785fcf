// PathMove: the paths of objects after a group above them got another name. References, links and
// named datatypes of HDF5 contain paths of objects (spec/extended.md, section 15.1).
#pragma once

#include <string>
#include <string_view>

#include "wire/failure.h"

namespace nmb {

// Renames block `from` to `to`, together with all blocks below it. The names must not begin or end
// with '/'. An empty name means the root block.
struct PathMove {
  std::string from, to;

  bool is_none() const { return from == to; }
  // Returns the new path for a reference, a link or a named datatype. A path that is empty or does
  // not begin with `from` is returned unchanged.
  NMB_EXPORT std::string moved(std::string_view path) const;
};

}  // namespace nmb
