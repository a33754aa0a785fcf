// Blocks that several ranks define: which ranks have them, the union of their definitions, their
// places, and which values were written ("Parallel Data Object Creation", section 3.3;
// spec/rationale.md, "Shared blocks").
#pragma once

#include <vector>

#include "writer/name_matching.h"
#include "writer/writer_core.h"

namespace nmb {

// All calls except take_match() are collective.
class SharedBlocks {
 public:
  explicit SharedBlocks(WriterCore& writer) : w_(writer) {}

  // Afterwards every block knows whether it is shared, which rank keeps it, and how many names
  // precede its own. *any_originals: whether this rank stores files whole; afterwards whether any
  // rank does.
  Status match_definitions(const std::vector<BlockId>& ids, bool* any_shared, bool* any_originals);
  // Sends the definitions of all ranks to keepers. Errors: kConflict if definitions contradict each
  // other.
  Status unite(const std::vector<BlockId>& ids);
  // Tells the other ranks where the blocks are.
  Status tell_sharers(const std::vector<BlockId>& ids);
  // Tells keepers which values other ranks have written.
  Status collect_values();

  void take_match(BlockId id, NameMatch match);

 private:
  WriterCore& w_;
};

}  // namespace nmb
