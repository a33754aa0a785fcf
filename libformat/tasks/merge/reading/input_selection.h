// InputSelection: the blocks of an input that are packed if only some blocks are wanted.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/named_blocks.h"
#include "convert/moved_paths.h"
#include "model/dataset.h"
#include "reader/file_reader.h"
#include "wire/failure.h"

namespace nmb {

inline bool is_from_hdf5(const BlockEntry& entry) {
  return entry.kind == static_cast<std::uint16_t>(Kind::kExtended);
}

class InputSelection {
 public:
  // kWithBelow: if a wanted block is a group, all blocks below it are selected too. kAlone: only
  // wanted blocks are selected.
  enum class Groups : std::uint8_t { kWithBelow, kAlone };
  using Wants = std::function<Result<bool>(std::string_view block)>;
  // kDimensions: the block is packed with its attributes, datatypes and dimension scales, but
  // without its other variables.
  enum class Use : std::uint8_t { kNone, kWhole, kDimensions };

  // Selects the blocks for which wants() returns true. A selected block may use dimensions of
  // groups above it that are not selected; these groups have the use kDimensions. Reads the
  // definitions of all selected blocks that came from HDF5. file: name of the file in messages. If
  // `blocks` are those of a Reader, the Reader must outlive the result. Errors: those of `wants`
  // and of `blocks`; kUnsupported if coordinates refer to dimensions by numbers that the dimensions
  // get only in the whole file.
  static Result<InputSelection> of(hdf5::NamedBlocks blocks, std::string file, Groups groups,
                                   Wants wants);

  // Returns whether a block is a group. Blocks that came from HDF5 are groups. A group without
  // content of its own is stored as a classic block; blocks below this block show that it is a
  // group.
  NMB_EXPORT static Result<bool> is_group(const hdf5::NamedBlocks& blocks, const BlockEntry& entry);

  Result<Use> use_of(std::string_view block) const;
  Groups groups() const { return below_; }
  // Returns false for a block with the use kDimensions.
  bool is_whole(std::string_view block) const { return !above_.contains(block); }
  // Returns for each variable of a block with the use kDimensions whether it is kept.
  static std::vector<bool> kept(const Dataset& block);
  // Returns a map that keeps the paths of all objects that are packed.
  PathMap map() const;

 private:
  InputSelection(hdf5::NamedBlocks blocks, std::string file, Groups groups, Wants wants)
      : blocks_(std::move(blocks)),
        file_(std::move(file)),
        below_(groups),
        wants_(std::move(wants)) {}
  Status select();
  Status note_groups_above(const BlockEntry& entry);
  void note_numbers(const LoadedBlock& block);
  Result<bool> is_wanted(std::string_view block) const;
  Result<bool> is_packed(std::string_view path) const;

  hdf5::NamedBlocks blocks_;
  std::string file_;
  Groups below_;
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
