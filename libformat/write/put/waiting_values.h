// Assigns places to values that wait for space. A value waits for space if it was added, or if it
// replaces a value in a committed piece (spec/rationale.md, "Values that wait for space").
#pragma once

#include "state/writer_core.h"

namespace nmb {

// Assigns places to all waiting values and writes them. Afterwards no values wait on any rank.
// Collective.
Status place_values(WriterCore& w);
// The same, if the ranks know already whether values wait on any rank.
Status place_values(WriterCore& w, bool any);
// Returns whether values of this rank wait for places. Not collective.
bool has_waiting_values(const WriterCore& w);

}  // namespace nmb
