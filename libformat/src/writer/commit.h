// A commit: values are finished, blocks, maps and index written, then the superblock that makes
// them the newest generation (spec/format.md, section 5).
#pragma once

#include "writer/writer_core.h"

namespace nmb {

// Collective: sync(), or of close() all but the end of the writer.
Status commit(WriterCore& w, bool closing);
// As Writer::planned().
Result<FilePlan> planned(const WriterCore& w);

}  // namespace nmb
