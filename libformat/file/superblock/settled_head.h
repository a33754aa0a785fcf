// Makes the settled head of a generation, which a writer needs if the head is damaged or a crash
// has left it unsettled (spec/writer.md, section 5.7).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "superblock/choosing.h"
#include "wire/bytes.h"

namespace nmb {

// Returns the bytes that `newest` requires before the dictionary: cover, mark, identity, guard and
// slots. Restores the slot of the previous generation from that generation's trailer or, if the
// trailer is damaged, keeps the slot of `reading`. Errors: kIo.
Result<std::vector<std::byte>> settled_head(const ByteSource& file, const HeadReading& reading,
                                            const FoundSuperblock& newest);

// Returns the file with a new head, and with a new tail in place of the bytes from `tail_begin` on.
// `file` is not changed. Bytes between its end and the tail are zero.
std::shared_ptr<const ByteSource> patched(std::shared_ptr<const ByteSource> file,
                                          std::uint64_t tail_begin, std::vector<std::byte> head,
                                          std::vector<std::byte> tail);

// Returns the file as if `newest` were committed: with its settled head, trailer and file length.
Result<std::shared_ptr<const ByteSource>> as_committed(std::shared_ptr<const ByteSource> file,
                                                       const HeadReading& reading,
                                                       const FoundSuperblock& newest);

}  // namespace nmb
