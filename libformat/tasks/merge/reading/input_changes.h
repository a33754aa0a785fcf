// InputChanges: which blocks of an input are packed, and how the paths in them change.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/named_blocks.h"
#include "convert/moved_paths.h"
#include "merge/reading/input_context.h"
#include "merge/reading/input_selection.h"
#include "merge/reporting/merge.h"
#include "model/dataset.h"
#include "wire/failure.h"

namespace nmb {

class InputChanges {
 public:
  // file: the name of the input. Both arguments must outlive the object.
  InputChanges(InputContext& context, const std::string& file) : context_(context), file_(file) {}

  // Selects the blocks for which wants() returns true, and all blocks below them.
  Status select(const hdf5::NamedBlocks& blocks, InputSelection::Wants wants);
  // Selects the chosen blocks and the groups above them that they need. Selects nothing if all
  // blocks are chosen, or if no chosen block came from HDF5. chosen: for each block, in the order
  // of names, whether it is chosen.
  Status select(const hdf5::NamedBlocks& blocks, const std::vector<bool>& chosen);
  // Called after the survey: from now on, paths change as InputOptions::map says.
  void end_survey() { is_surveyed_ = true; }

  bool is_selection() const { return selection_.has_value(); }
  bool is_surveyed() const { return is_surveyed_; }
  // Returns whether a block is passed on, perhaps without some of its variables. Valid if
  // is_selection() is true.
  Result<bool> is_selected(std::string_view block) const;
  // Leaves out hard links and references to objects that `reader` does not have. The reader must
  // outlive this object.
  void drop_dangling(const FileReader& reader) { exists_in_ = &reader; }
  // Returns what change() has left out because of drop_dangling(), and forgets it.
  std::vector<PackLoss> take_dangling() { return std::exchange(dangling_, {}); }
  // Returns false if only the dimensions of the block are packed.
  bool is_whole(std::string_view block) const { return !selection_ || selection_->is_whole(block); }

  // Returns whether change() may change a block.
  bool may_change(const PathMove& move) const {
    return is_surveyed_ || selection_ || exists_in_ || !move.is_none();
  }
  // Returns a block with the paths that its objects have in the output, and without references to
  // objects that are not packed. Returns a result without a body if the block stays unchanged.
  // move: how the block's name changes. Errors: those of move_paths(); kConflict.
  Result<MovedContent> change(const Dataset& block, const PathMove& move);

 private:
  Result<MovedContent> selected(const Dataset& block, const PathMove& move);
  Result<MovedContent> mapped(const Dataset& block);
  Result<MovedContent> without_dangling(const Dataset& block);
  Status note_lost_dimensions(const Dataset& block);
  void note_dangling(const std::string& block, const std::string& object, std::string text);
  Status not_moved(const Status& status, const std::string& block, const char* remedy) const;
  void warn_of_lost(const MovedContent& moved, const std::string& block, const std::string& reason);

  InputContext& context_;
  const std::string& file_;
  std::optional<InputSelection> selection_;  // set if only some blocks are packed
  bool is_surveyed_ = false;
  const FileReader* exists_in_ = nullptr;
  std::vector<PackLoss> dangling_;
};

}  // namespace nmb
