// Opens blocks that other ranks have defined since the last commit: the owners of their names know
// their keepers, and the keepers know their definitions. Committed blocks are found in the index.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "writer/writer_core.h"

namespace nmb {

// Collective, each rank with its own names. Errors: kNotFound.
Result<std::vector<BlockId>> open_blocks(WriterCore& w, std::span<const std::string_view> names);

}  // namespace nmb
