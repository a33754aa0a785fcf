// Blocks that several ranks define: who has them, the union of their definitions, where they lie,
// and what was written of their values ("Parallel Data Object Creation", section 3.3;
// spec/rationale.md, "Shared blocks").
#pragma once

#include <vector>

#include "writer/name_matching.h"
#include "writer/writer_core.h"

namespace nmb {

// All but take_match() is collective.
class SharedBlocks {
 public:
  explicit SharedBlocks(WriterCore& writer) : w_(writer) {}

  // Afterwards every block knows whether it is shared and who keeps it, and how many names come
  // ahead of its own.
  Status match_definitions(const std::vector<BlockId>& ids, bool* any_shared);
  // Keepers get the definitions of all ranks. kConflict: they do not go together.
  Status unite(const std::vector<BlockId>& ids);
  // The others learn where the blocks lie.
  Status tell_sharers(const std::vector<BlockId>& ids);
  // Keepers learn what others have written of the values.
  Status collect_values();

  void take_match(BlockId id, NameMatch match);

 private:
  WriterCore& w_;
};

}  // namespace nmb
