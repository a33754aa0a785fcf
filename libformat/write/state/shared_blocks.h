// SharedBlocks: handles blocks that several ranks define. Finds the ranks that share a block, and
// unites their definitions on one rank, the primary. The other ranks then receive the place of the
// block, and the primary receives a list of the values that they wrote ("Parallel Data Object
// Creation", section 3.3; spec/rationale.md, "Shared blocks").
#pragma once

#include <vector>

#include "state/name_matching.h"
#include "state/writer_core.h"

namespace nmb {

// All calls except take_match() are collective.
class SharedBlocks {
 public:
  explicit SharedBlocks(WriterCore& writer) : w_(writer) {}

  // For each block, determines whether it is shared, which rank is its primary, and the value of
  // BlockState::names_ahead. *any_originals: before the call, whether this rank stores originals;
  // after the call, whether any rank does.
  Status match_definitions(const std::vector<BlockId>& ids, bool* any_shared, bool* any_originals);
  // Unites the definitions of all ranks on the primaries of the blocks. Errors: kConflict if
  // definitions contradict each other.
  Status unite(const std::vector<BlockId>& ids);
  // Sends the places of shared blocks to the other ranks.
  Status send_places(const std::vector<BlockId>& ids);
  // Sends the primary of each shared block a list of the values that other ranks have written.
  Status collect_values();

  void take_match(BlockId id, NameMatch match);

 private:
  std::vector<BlockId> changed_blocks(const std::vector<BlockId>& pending) const;

  WriterCore& w_;
};

}  // namespace nmb
