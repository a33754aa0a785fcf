// The bound of --mem.
#pragma once

#include <cstdint>

#include "nmb/status.h"

namespace nmb::tools {

// From now on this process, and those that it starts, find no memory where that would make more
// than `bytes` of their own: heap, stacks, writable private mappings, used or not (RLIMIT_DATA of
// Linux). Threads to come have small stacks. kIo: the system refused; kLimit: there is more by now.
Status limit_memory(std::uint64_t bytes);

}  // namespace nmb::tools
