// Place: where a structure lies and the sum of its bytes (spec/format.md, section 5).
#pragma once

#include "nmb/block_entry.h"

namespace nmb {

using Place = BlockEntry::Place;

}  // namespace nmb
