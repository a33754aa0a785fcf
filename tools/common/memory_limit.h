// The limit of --mem.
#pragma once

#include <cstdint>

#include "nmb/status.h"

namespace nmb::tools {

// After this call, the process and those that it starts cannot allocate more than `bytes` of their
// own memory: heap, stacks, writable private mappings, used or not (RLIMIT_DATA of Linux). New
// threads have small stacks. Errors: kIo if the system refused; kLimit if more memory is already
// used.
Status limit_memory(std::uint64_t bytes);

}  // namespace nmb::tools
