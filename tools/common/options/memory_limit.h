// The limit of --mem.
#pragma once

#include <cstdint>

#include "wire/failure.h"

namespace nmb::tools {

// Limits the memory of this process, and of each process that it starts, to `bytes` (RLIMIT_DATA of
// Linux). The heap, stacks and writable private mappings count towards the limit, even where they
// are unused. New threads get small stacks. Errors: kIo if the system refuses the limit; kLimit if
// more memory is already in use.
Status limit_memory(std::uint64_t bytes);

}  // namespace nmb::tools
