// The settled head of a generation: what a writer makes of a head that is damaged, or that a crash
// has left (spec/format.md, section 5.4).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "format/superblock/choosing.h"
#include "nmb/bytes.h"

namespace nmb {

// The bytes up to the dictionary as `newest` has them: cover, mark, identity, guard, slots. Of the
// slot that is not its own those of `reading` stay where the trailer that should be there is
// damaged. Errors: kIo.
Result<std::vector<std::byte>> settled_head(const ByteSource& file, const HeadReading& reading,
                                            const FoundSuperblock& newest);

// The file as it would be if `newest` were committed: with its settled head and its trailer,
// and as long as it says. `file` outlives it.
Result<std::unique_ptr<const ByteSource>> as_committed(const ByteSource& file,
                                                       const HeadReading& reading,
                                                       const FoundSuperblock& newest);

}  // namespace nmb
