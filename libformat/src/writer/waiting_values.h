// Assigns places to values that wait for space: added values, and committed pieces that change
// (spec/rationale.md, "Values that wait for space").
#pragma once

#include "writer/writer_core.h"

namespace nmb {

// Assigns places to all waiting values and writes them. Afterwards no values wait on any rank.
// Collective.
Status place_values(WriterCore& w);

}  // namespace nmb
