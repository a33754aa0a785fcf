// Place: the position, the length and the checksum of a structure (spec/format.md, section 5).
#pragma once

#include "wire/block_entry.h"

namespace nmb {

using Place = BlockEntry::Place;

}  // namespace nmb
