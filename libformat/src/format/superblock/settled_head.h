// The settled head of a generation, which a writer makes from a head that is damaged or that a
// crash has left (spec/format.md, section 5.4).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "format/superblock/choosing.h"
#include "nmb/bytes.h"

namespace nmb {

// Returns the bytes up to the dictionary according to `newest`: cover, mark, identity, guard,
// slots. The other slot keeps the bytes of `reading` if the trailer with its content is damaged.
// Errors: kIo.
Result<std::vector<std::byte>> settled_head(const ByteSource& file, const HeadReading& reading,
                                            const FoundSuperblock& newest);

// Returns the file as if `newest` were committed: with its settled head, its trailer and its
// length. `file` must outlive it.
Result<std::unique_ptr<const ByteSource>> as_committed(const ByteSource& file,
                                                       const HeadReading& reading,
                                                       const FoundSuperblock& newest);

}  // namespace nmb
