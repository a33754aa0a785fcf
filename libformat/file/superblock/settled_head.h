// Makes the settled head of a generation. A writer makes a settled head if the head is damaged, or
// if a crash has left the head unsettled (spec/writer.md, section 5.7).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "superblock/choosing.h"
#include "wire/bytes.h"

namespace nmb {

// Returns the bytes that `newest` requires before the dictionary: cover, mark, identity, guard and
// slots. The slot of the previous generation is restored from the trailer of that generation. If
// that trailer is damaged, the slot keeps the bytes of `reading`. Errors: kIo.
Result<std::vector<std::byte>> settled_head(const ByteSource& file, const HeadReading& reading,
                                            const FoundSuperblock& newest);

// Returns a file with a new head and a new tail, without changing it. Bytes of the file at and
// after `tail_begin` are not used. Bytes between the end of the file and the tail are zero.
std::shared_ptr<const ByteSource> patched(std::shared_ptr<const ByteSource> file,
                                          std::uint64_t tail_begin, std::vector<std::byte> head,
                                          std::vector<std::byte> tail);

// Returns the file as if `newest` were committed: with the settled head, the trailer and the file
// length of `newest`.
Result<std::shared_ptr<const ByteSource>> as_committed(std::shared_ptr<const ByteSource> file,
                                                       const HeadReading& reading,
                                                       const FoundSuperblock& newest);

}  // namespace nmb
