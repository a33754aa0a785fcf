// Assigns places to values that wait for space. A value waits for space if it was added, or if it
// replaces a value in a committed piece (spec/rationale.md, "Values that wait for space").
#pragma once

#include "state/writer_core.h"

namespace nmb {

// Assigns places to all waiting values and writes them. Afterwards no values wait on any rank.
// Collective.
Status place_values(WriterCore& w);

}  // namespace nmb
