// A commit finishes the values, and writes data maps, blocks and the index. At the end it writes
// the superblock, with which the changes become the newest generation (spec/format.md, section 5).
#pragma once

#include "state/writer_core.h"

namespace nmb {

// Commits all changes for sync() or close(). Collective.
Status commit(WriterCore& w, bool closing);
// Like FileWriter::planned().
Result<FilePlan> planned(const WriterCore& w);

}  // namespace nmb
