// Changes the paths of objects in a block of kind 6, for example after a group above these objects
// was renamed. References, links and named datatypes contain paths of objects in the same file
// (spec/extended.md, section 15.1; spec/hdf5_section.md).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "files/spool_file.h"
#include "model/dataset.h"
#include "model/moved_reference.h"
#include "model/path_move.h"

namespace nmb {

struct MovedContent {
  std::vector<std::byte> body;  // body of kind 6
  // The new extent. A nullptr means that no values refer to objects; the block then keeps its old
  // extent.
  std::shared_ptr<const ByteSource> extent;
  // Texts for messages. Each text names a link that was left out, or a variable or attribute that
  // had a reference to a removed object. Links to groups get no text, and neither do the attributes
  // REFERENCE_LIST and DIMENSION_LIST.
  std::vector<std::string> lost;
};

// Returns whether the block contains a path of an object, for example in a link or a reference.
// Errors: kDamaged.
Result<bool> has_paths(const Metadata& metadata);

// Returns whether the block refers to objects: by paths, by links to groups below the block, or by
// relative soft links. If not, map_paths() changes nothing. Errors: kDamaged.
Result<bool> refers_to_objects(const Metadata& metadata);

// Returns the block with the paths that its objects have after the move. The result has no body if
// the block contains no paths, or if `move` changes no name. Appends to `spool` the values that
// refer to objects; the result reads all other values from block.extent, which it keeps. Memory: a
// small window, plus the bytes to which one value refers (at most 256 MiB). Errors: kLimit if
// values refer to far more bytes than the region has, or if one value refers to more than 256 MiB;
// kUnsupported if references are in records; kDamaged; kIo; kNoSpace.
Result<MovedContent> move_paths(const Dataset& block, const PathMove& move,
                                const std::shared_ptr<SpoolFile>& spool);

// Replaces each path in the block by the path that `map` returns for it. The block's own path is
// '/' followed by the block's name. If an object no longer exists, links to it are left out, and
// references to it become empty. The attributes REFERENCE_LIST and DIMENSION_LIST lose references
// to objects that no longer exist. An attribute REFERENCE_LIST that becomes empty is left out. If
// the new path of a group is not below the block, links to this group are left out.
Result<MovedContent> map_paths(const Dataset& block, const PathMap& map,
                               const std::shared_ptr<SpoolFile>& spool);

// Returns the block without hard links, references and sources of virtual data sets that lead to
// objects for which exists(path) is false. Works like map_paths(), except that soft links do not
// change. A variable that lost a scale loses its attributes DIMENSION_LIST (named in
// MovedContent::lost) and _Netcdf4Coordinates, because netCDF does not read a variable if only some
// of its dimensions have a scale.
Result<MovedContent> drop_lost_targets(const Dataset& block,
                                       const std::function<bool(std::string_view path)>& exists,
                                       const std::shared_ptr<SpoolFile>& spool);

// Works like map_paths(), but also leaves out the variables for which kept[VarId] is false, and
// links to these variables. The new extent has only the values of the other variables; it is never
// nullptr.
Result<MovedContent> keep_variables(const Dataset& block, const std::vector<bool>& kept,
                                    const PathMap& map, const std::shared_ptr<SpoolFile>& spool);

}  // namespace nmb
