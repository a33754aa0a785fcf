// Places for values that wait for space: growth, and new places for committed pieces that change
// (spec/rationale.md, "Values that wait for space").
#pragma once

#include "writer/writer_core.h"

namespace nmb {

// Collective: afterwards no values wait on any rank.
Status place_values(WriterCore& w);

}  // namespace nmb
