// Reads the head of an existing file for a writer: chooses the newest generation and repairs
// damaged parts of the head (spec/writer.md, section 5.7).
#pragma once

#include "state/writer_core.h"

namespace nmb {

// Loads the committed state. Collective. Rank 0 repairs the head before other ranks read the file.
Status load_committed(WriterCore& w);

}  // namespace nmb
