// Whether all of a generation is sound that the head does not lead to (spec/format.md,
// section 5.4).
#pragma once

#include "format/superblock/head_reading.h"

namespace nmb {

// Verifies the file as it would be if `generation` were committed, values too. What only a later
// version reads is no damage. reading: of the file's head. kIo, kLimit: it could not be looked at.
Result<bool> is_sound(const ByteSource& file, const HeadReading& reading,
                      const FoundSuperblock& generation);

}  // namespace nmb
