// Sets where the values of a new block come from if the program does not put them: from a packed
// block, from pieces in stored form, or from a source that the commit copies. The values may also
// stay in other files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "origins/stored_values.h"
#include "state/writer_core.h"

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
