// A commit finishes values, writes data maps, blocks and the index, and then writes the superblock,
// which makes them the newest generation (spec/format.md, section 5).
#pragma once

#include "writer/writer_core.h"

namespace nmb {

// Commits all changes for sync() or close(). Collective.
Status commit(WriterCore& w, bool closing);
// Like Writer::planned().
Result<FilePlan> planned(const WriterCore& w);

}  // namespace nmb
