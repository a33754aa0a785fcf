// Checks whether a generation to which the head does not lead is free of errors (spec/format.md,
// section 5.4).
#pragma once

#include "format/superblock/head_reading.h"

namespace nmb {

// Verifies the file, including its values, as it would be if `generation` were committed.
// Structures that only a later version can read are not counted as damage. reading: of the file's
// head. Errors: kIo, kLimit if the file could not be checked.
Result<bool> is_sound(const ByteSource& file, const HeadReading& reading,
                      const FoundSuperblock& generation);

}  // namespace nmb
