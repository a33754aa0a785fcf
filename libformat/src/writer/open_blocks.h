// Blocks that other ranks have defined since the last commit: the owners of their names know who
// keeps them, the keepers what they are. Others are found in the index.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "writer/writer_core.h"

namespace nmb {

// Collective, each rank with its own names. kNotFound.
Result<std::vector<BlockId>> open_blocks(WriterCore& w, std::span<const std::string_view> names);

}  // namespace nmb
