// Global IDs: positions of blocks in the order of their names.
#pragma once

#include <cstdint>

#include "state/writer_core.h"

namespace nmb {

// Like FileWriter::global_id().
Result<std::uint64_t> global_id(WriterCore& w, BlockId id);

}  // namespace nmb
