// move_paths changes the paths in a block of kind 6 after a group above the named objects was
// renamed. References, links and named datatypes contain such paths of objects in the same file
// (spec/format.md, section 15.1; spec/hdf5_section.md).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/dataset.h"
#include "wire/spool_file.h"

namespace nmb {

// Renames block `from` and all blocks below it to `to`. Both names have no '/' at either end; an
// empty name is the root block.
struct PathMove {
  std::string from, to;

  bool is_none() const { return from == to; }
  // Returns the new path for a reference, a link or a named datatype. A path that is empty or does
  // not begin with `from` is returned unchanged.
  std::string moved(std::string_view path) const;
};

// Returns the new path of the object at `path`, or nullopt if the object no longer exists. Both
// paths begin with '/'.
using PathMap = std::function<std::optional<std::string>(std::string_view path)>;

struct MovedBlock {
  std::vector<std::byte> body;  // body of kind 6
  // The new extent, or nullptr if no values refer to objects. In the second case, the block keeps
  // its extent.
  std::shared_ptr<const ByteSource> extent;
  // Texts for messages, about links that were left out, and about variables and attributes with
  // references to removed objects. Links to groups, REFERENCE_LIST and DIMENSION_LIST are not
  // listed.
  std::vector<std::string> lost;
};

// Returns whether anything in the block refers to an object by its path. Errors: kDamaged.
Result<bool> has_paths(const Metadata& metadata);

// Returns the block as if it had been read from the renamed file. The result has no body if no path
// in the block changes. Values that refer to objects are appended to `spool`. The result keeps
// block.extent and reads all other values from it. Memory: a window, and the bytes to which one
// value refers, at most 256 MiB. Errors: kDamaged; kIo; kNoSpace; kLimit; kUnsupported. The error
// is kLimit if values refer to far more bytes than the region has, or if one value refers to more
// than 256 MiB. The error is kUnsupported for references in records, and for references in a block
// that has attributes of named datatypes.
Result<MovedBlock> move_paths(const Dataset& block, const PathMove& move,
                              const std::shared_ptr<SpoolFile>& spool);

// Changes the path of each object with `map`. The block's own path is its name after '/'. If an
// object no longer exists, links to it are left out, and references to it become empty. In
// REFERENCE_LIST and DIMENSION_LIST, such references are left out. An attribute REFERENCE_LIST that
// becomes empty is left out. A link to a group whose new path is not below the block is left out.
Result<MovedBlock> map_paths(const Dataset& block, const PathMap& map,
                             const std::shared_ptr<SpoolFile>& spool);

}  // namespace nmb
