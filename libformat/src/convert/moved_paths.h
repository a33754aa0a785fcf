// move_paths: changes the paths in a block of kind 6 with which references, links and named
// datatypes refer to objects of the same file (spec/format.md, section 15.1; spec/hdf5_section.md),
// after the beginning of those paths was renamed.
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

// Block `from` and all blocks below it are renamed to `to`; both without '/' at either end; empty:
// the root.
struct PathMove {
  std::string from, to;

  bool is_none() const { return from == to; }
  // Returns the new path for a reference, a link or a named datatype. A path that is empty or does
  // not begin with `from` is returned unchanged.
  std::string moved(std::string_view path) const;
};

// Returns the new path of an object, both with the first '/'; nullopt: the object no longer exists.
using PathMap = std::function<std::optional<std::string>(std::string_view path)>;

struct MovedBlock {
  std::vector<std::byte> body;  // of kind 6
  // nullptr: the extent of the block, because no values refer to objects.
  std::shared_ptr<const ByteSource> extent;
  // Names for messages: links that are left out, and objects with references that no longer refer
  // to anything. Links to groups, REFERENCE_LIST and DIMENSION_LIST are not listed.
  std::vector<std::string> lost;
};

// Returns whether something in the block refers to objects by their paths. Errors: kDamaged.
Result<bool> has_paths(const Metadata& metadata);

// The result has no body if the block has no paths or none of them changes. Otherwise it is what
// reading the renamed file would give. Values that refer to objects are written to the end of
// `spool`; other values are read from block.extent, which is kept. Memory: the bytes to which one
// value refers, 256 MiB at most, and a window. Errors: kDamaged; kLimit if values refer to far more
// bytes than there are, or one to more than 256 MiB; kUnsupported for references among the
// attributes of named datatypes or in records; kIo; kNoSpace.
Result<MovedBlock> move_paths(const Dataset& block, const PathMove& move,
                              const std::shared_ptr<SpoolFile>& spool);

// Changes the path of each object with `map`; the block's own path is its name. If an object no
// longer exists, links to it are left out and references to it refer to nothing; in REFERENCE_LIST
// and DIMENSION_LIST they are left out, and so is a REFERENCE_LIST that becomes empty. A link to a
// group whose new path is not below the block is left out.
Result<MovedBlock> map_paths(const Dataset& block, const PathMap& map,
                             const std::shared_ptr<SpoolFile>& spool);

}  // namespace nmb
