// SharedBlocks: handles blocks that several ranks define. Finds the ranks that share a block, and
// unites their definitions on one rank, the primary. The other ranks then receive the place of the
// block, and the primary receives a list of the values that they wrote ("Parallel Data Object
// Creation", section 3.3; spec/rationale.md, "Shared blocks").
#pragma once

#include <vector>

#include "state/name_matching.h"
#include "state/writer_core.h"

namespace nmb {

// The kinds of changes that an end_define() brings. Each is true if any rank makes such a change.
struct MatchSummary {
  bool originals = false;   // stores originals
  bool redefined = false;   // changes a block that was placed before
  bool shared = false;      // shares a block that it defines or changes
  bool names_move = false;  // defines, removes or renames a block
  bool changed = false;     // changes a committed block
};

// All calls except take_match() and list_value_claims() are collective.
class SharedBlocks {
 public:
  explicit SharedBlocks(WriterCore& writer) : w_(writer) {}

  // For each block, determines whether it is shared, which rank is its primary, and the value of
  // BlockState::names_ahead. own: `originals` and `redefined` of this rank. *status: the status of
  // this rank alone, on which the ranks must agree later.
  Result<MatchSummary> match_definitions(const MatchSummary& own, Status* status);
  // Unites the definitions of all ranks on the primaries of the blocks. Errors: kConflict if
  // definitions contradict each other.
  Status unite(const std::vector<BlockId>& ids);
  // Chooses a primary for each committed block to which values are put. If a rank already has
  // uncommitted values of the block, that rank is the primary; otherwise the lowest rank that puts
  // values is. list_value_claims() must be called before. as_before: no claims of any rank differ
  // from those of the last matching (MatchedValues). *status: the status of this rank alone, on
  // which the ranks must agree later.
  Status match_values(bool as_before, Status* status);
  // Lists the committed blocks to which this rank has put values, and those in WriterCore::knowing,
  // to which another rank may have put values.
  void list_value_claims();
  // Sends the places of shared blocks to the other ranks.
  Status send_places(const std::vector<BlockId>& ids);
  // Sends the primary of each shared block a list of the values that other ranks have written.
  // *status: the status of this rank so far, on which the ranks must agree later.
  Status collect_values(Status* status);

  void take_match(BlockId id, NameMatch match);

 private:
  // Returns whether the committed block gets other definitions or another name.
  static bool is_changed(const BlockState& block) { return !block.body_stays(); }
  std::vector<BlockId> changed_blocks() const;
  Result<std::vector<NameRecord>> all_claims();

  WriterCore& w_;
};

}  // namespace nmb
