// A writer opens blocks that are already in the file: it finds them by name, and reads them when it
// needs their definitions.
#pragma once

#include <optional>
#include <string_view>

#include "model/classic.h"
#include "state/writer_core.h"

namespace nmb {

// Checks a block ID, and updates the block if another rank has changed it. Must be called before
// each use of an ID. Errors: kUsage if no block has this ID.
Status check_id(WriterCore& w, BlockId id);
// Returns kUsage if another rank has changed, removed or renamed the committed block since the last
// commit, because the other ranks must not use its values then. what: the use, for the message.
Status check_unchanged_elsewhere(const WriterCore& w, BlockId id,
                                 std::string_view what = "put values into it");
// Returns kUnsupported for a block that came from HDF5. why: what follows from it, for the message.
Status check_not_from_hdf5(const WriterCore& w, BlockId id, std::string_view why = kNoPuts);
// Returns the ID of the block with this name, or nullopt if this rank knows no such block. Also
// returns nullopt if another rank has removed or renamed the block; the block's ID on this rank
// does not change.
Result<std::optional<BlockId>> known_block(WriterCore& w, std::string_view name);
Result<bool> exists(WriterCore& w, std::string_view name);
Result<BlockId> find_block(WriterCore& w, std::string_view name);
// Returns the block with its metadata and layout.
Result<BlockState*> readable(WriterCore& w, BlockId id);
// Loads the metadata and layout of a block if they are not loaded yet.
Status load_definitions(WriterCore& w, BlockId id);
// Returns the header of a block that is committed or packed.
Result<ClassicHeader> stored_header(WriterCore& w, BlockId id);

}  // namespace nmb
