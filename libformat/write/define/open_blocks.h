// Opens blocks that other ranks have defined since the last commit. The rank that owns a name knows
// the primary of the block with this name, and the primary knows the block's definitions. Committed
// blocks are found in the index.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "state/writer_core.h"

namespace nmb {

// Opens the blocks with these names and returns their IDs. Collective; each rank passes its own
// names. Errors: kNotFound.
Result<std::vector<BlockId>> open_blocks(WriterCore& w, std::span<const std::string_view> names);

}  // namespace nmb
