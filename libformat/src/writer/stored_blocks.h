// Blocks of the file that a writer opens: finds them by name and reads them when their definitions
// are needed.
#pragma once

#include <optional>
#include <string_view>

#include "nmb/classic.h"
#include "writer/writer_core.h"

namespace nmb {

// Call this before every use of a handle: returns kUsage, or updates the block if another rank has
// changed it.
Status check_id(WriterCore& w, BlockId id);
// The ID by which a name is known here. None: it is not, or only as that of a block that another
// rank has removed or renamed since, whose ID stays its own.
Result<std::optional<BlockId>> known_block(WriterCore& w, std::string_view name);
Result<bool> exists(WriterCore& w, std::string_view name);
Result<BlockId> find_block(WriterCore& w, std::string_view name);
// Returns the block with its metadata and layout.
Result<BlockState*> readable(WriterCore& w, BlockId id);
// Loads metadata and layout of a block that is written but not opened.
Status load_definitions(WriterCore& w, BlockId id);
// Returns the header of a block that is committed or packed.
Result<ClassicHeader> stored_header(WriterCore& w, BlockId id);

}  // namespace nmb
