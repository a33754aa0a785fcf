// SharedBlocks: handles blocks that several ranks define. Ranks that share a block are found, and
// their definitions are united. The ranks then receive the places of blocks, and the keepers
// receive the written values ("Parallel Data Object Creation", section 3.3; spec/rationale.md,
// "Shared blocks").
#pragma once

#include <vector>

#include "writer/name_matching.h"
#include "writer/writer_core.h"

namespace nmb {

// All calls except take_match() are collective.
class SharedBlocks {
 public:
  explicit SharedBlocks(WriterCore& writer) : w_(writer) {}

  // Determines for each block whether it is shared, its keeper, and BlockState::names_ahead.
  // Call with *any_originals true if this rank stores originals; afterwards it is true if any rank
  // does.
  Status match_definitions(const std::vector<BlockId>& ids, bool* any_shared, bool* any_originals);
  // Unites the definitions of all ranks on the keepers of the blocks. Errors: kConflict if
  // definitions contradict each other.
  Status unite(const std::vector<BlockId>& ids);
  // Tells the other ranks the places of shared blocks.
  Status tell_sharers(const std::vector<BlockId>& ids);
  // Tells the keepers which values other ranks have written.
  Status collect_values();

  void take_match(BlockId id, NameMatch match);

 private:
  WriterCore& w_;
};

}  // namespace nmb
