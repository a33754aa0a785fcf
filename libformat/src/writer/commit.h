// A commit: finishes values, writes blocks, maps and index, then the superblock, which makes them
// the newest generation (spec/format.md, section 5).
#pragma once

#include "writer/writer_core.h"

namespace nmb {

// Collective: the commit of sync() or close().
Status commit(WriterCore& w, bool closing);
// Like Writer::planned().
Result<FilePlan> planned(const WriterCore& w);

}  // namespace nmb
