// Checks whether a generation to which the head does not refer is free of errors (spec/format.md,
// section 5.4).
#pragma once

#include "format/superblock/head_reading.h"

namespace nmb {

// Verifies the file, including its values, as if `generation` were committed. Structures that only
// a later version can read do not count as damage. reading: the bytes read from the file's head.
// Errors: kIo or kLimit if the file could not be checked.
Result<bool> is_sound(const ByteSource& file, const HeadReading& reading,
                      const FoundSuperblock& generation);

}  // namespace nmb
