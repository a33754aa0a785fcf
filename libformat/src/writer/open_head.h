// The head of an existing file as a writer takes it over: the newest generation is chosen, and what
// is damaged of the head restored (spec/format.md, section 5.4).
#pragma once

#include "writer/writer_core.h"

namespace nmb {

// Collective. The first rank mends the head before others look at the file.
Status load_committed(WriterCore& w);

}  // namespace nmb
