// move_paths: a block of kind 6 whose references, links and named datatypes lead to objects of the
// same file (spec/format.md, section 15.1; spec/hdf5_section.md), for a name of another beginning.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/dataset.h"
#include "wire/spool_file.h"

namespace nmb {

// Block `from` and all below it become `to`, without '/' at either end; empty: the root.
struct PathMove {
  std::string from, to;

  bool is_none() const { return from == to; }
  // A path of a reference, a link or a named datatype as it is then. One that begins elsewhere, or
  // is empty, stays.
  std::string moved(std::string_view path) const;
};

// The path of an object as it is then, both with the first '/'; nullopt: the object is no more.
using PathMap = std::function<std::optional<std::string>(std::string_view path)>;

struct MovedBlock {
  std::vector<std::byte> body;  // of kind 6
  // nullptr: that of the block, as no values lead to objects.
  std::shared_ptr<const ByteSource> extent;
  // Links that are left out and objects with references that lead nowhere now, as messages call
  // them. Links to groups, REFERENCE_LIST and DIMENSION_LIST are not named.
  std::vector<std::string> lost;
};

// Whether something in the block leads to objects by their paths. kDamaged.
Result<bool> has_paths(const Metadata& metadata);

// Without a body: the block has no paths, or none that change. The result is that of reading the
// moved file. Values that lead to objects are written to the end of `spool`; others are read from
// block.extent, which is kept. Memory: what one value leads to, 256 MiB at most, and a window.
// Errors: kDamaged; kLimit: values that lead to far more bytes than there are, or one to more than
// 256 MiB; kUnsupported: references among the attributes of named datatypes, or values in records;
// kIo; kNoSpace.
Result<MovedBlock> move_paths(const Dataset& block, const PathMove& move,
                              const std::shared_ptr<SpoolFile>& spool);

// The same by a path for each object, the block's own by its name. What leads to an object that is
// no more: links are left out; references lead nowhere; those in REFERENCE_LIST and DIMENSION_LIST
// are left out, an empty REFERENCE_LIST too. A link to a group that is not below the block then is
// left out.
Result<MovedBlock> map_paths(const Dataset& block, const PathMap& map,
                             const std::shared_ptr<SpoolFile>& spool);

}  // namespace nmb
