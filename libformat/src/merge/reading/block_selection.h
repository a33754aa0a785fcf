// BlockSelection: the blocks of an NMB input that are packed if only some blocks are wanted.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/moved_paths.h"
#include "nmb/dataset.h"
#include "nmb/reader.h"
#include "nmb/status.h"

namespace nmb {

class BlockSelection {
 public:
  using Wants = std::function<Result<bool>(std::string_view block)>;
  // kDimensions: the block is packed with its attributes, datatypes and dimension scales, but
  // without its other variables.
  enum class Use : std::uint8_t { kNone, kWhole, kDimensions };

  // Selects the blocks of `reader` for which wants() returns true. If such a block is a group,
  // selects all blocks below it too. A selected block may use dimensions of groups above it that
  // are not selected; these groups have the use kDimensions. Reads the definitions of all selected
  // blocks that came from HDF5. `reader` must outlive the result. Errors: those of `wants` and of
  // `reader`; kUnsupported if coordinates refer to dimensions by numbers that these get only in the
  // whole file.
  static Result<BlockSelection> of(const Reader& reader, Wants wants);

  // Returns whether a block is a group. Blocks that came from HDF5 are groups. A group without
  // content of its own is stored as a classic block; blocks below this block show that it is a
  // group.
  static Result<bool> is_group(const Reader& reader, const BlockEntry& entry);

  Result<Use> use_of(std::string_view block) const;
  // Returns false for a block with the use kDimensions.
  bool is_whole(std::string_view block) const { return !above_.contains(block); }
  // Returns for each variable of a block with the use kDimensions whether it is kept.
  static std::vector<bool> kept(const Dataset& block);
  // Returns a map that keeps the paths of all objects that are packed.
  PathMap map() const;

 private:
  BlockSelection(const Reader& reader, Wants wants) : reader_(&reader), wants_(std::move(wants)) {}
  Status select();
  Status note_groups_above(const BlockEntry& entry);
  void note_numbers(const Block& block);
  Result<bool> is_wanted(std::string_view block) const;
  Result<bool> is_packed(std::string_view path) const;

  const Reader* reader_;
  Wants wants_;
  std::set<std::string, std::less<>>
      groups_;                                // groups that are selected with all blocks below them
  std::set<std::string, std::less<>> above_;  // blocks with the use kDimensions
  std::set<std::string, std::less<>> scales_;  // paths of the variables that these blocks keep
  // In blocks of files that are not selected as a whole: whether a dimension has no number, and the
  // path of a coordinate that refers to several dimensions by their numbers.
  bool has_unnumbered_ = false;
  std::string of_several_;
};

}  // namespace nmb
