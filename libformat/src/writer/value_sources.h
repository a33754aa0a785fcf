// Sets the sources of the values of new blocks, except puts. A source is a packed block, pieces in
// stored form, a source to copy from, or files in which the values stay. To add a new origin,
// change this file and writer/extent_origin.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "writer/stored_values.h"
#include "writer/writer_core.h"

namespace nmb {

Result<BlockId> pack_block(WriterCore& w, PackedBlock packed);
Status take_pieces(WriterCore& w, BlockId id, std::vector<StoredPiece> pieces,
                   std::shared_ptr<const ByteSource> stored);
Status take_values(WriterCore& w, BlockId id, std::shared_ptr<const ByteSource> source,
                   std::vector<ValueRuns> runs, std::string origin);
Status link_values(WriterCore& w, BlockId id, LinkedValues values);

// Returns the number of bytes that the next commit moves or links.
std::uint64_t pending_bytes(const WriterCore& w);
std::uint64_t linked_bytes(const WriterCore& w);

}  // namespace nmb
