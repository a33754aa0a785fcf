// Where the values of new blocks come from, but for puts: a packed block, pieces that are ready, a
// source that they are moved from, files that they stay in. One more origin begins here and in
// writer/extent_origin.h.
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

// Bytes that the next commit moves, and that it links.
std::uint64_t pending_bytes(const WriterCore& w);
std::uint64_t linked_bytes(const WriterCore& w);

}  // namespace nmb
