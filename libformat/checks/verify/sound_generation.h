// Verifies a generation to which the head of the file does not refer (spec/writer.md, section 5.7).
#pragma once

#include "superblock/head_reading.h"

namespace nmb {

// Verifies the file, including its values, as if `generation` were committed. Structures that only
// a later version can read do not count as damage. reading: what was read from the head of the
// file. Errors: kIo or kLimit if the file could not be checked.
Result<bool> is_sound(const ByteSource& file, const HeadReading& reading,
                      const FoundSuperblock& generation);

}  // namespace nmb
