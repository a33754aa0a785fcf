// Blocks of the file as a writer looks at them: found by name, and read when their definitions are
// wanted.
#pragma once

#include <string_view>

#include "nmb/classic.h"
#include "writer/writer_core.h"

namespace nmb {

// Ahead of every use of a handle: kUsage, or what another rank has made of the block since.
Status check_id(WriterCore& w, BlockId id);
Result<bool> exists(WriterCore& w, std::string_view name);
Result<BlockId> find_block(WriterCore& w, std::string_view name);
// The block with its metadata and layout.
Result<BlockState*> readable(WriterCore& w, BlockId id);
// Metadata and layout of a block that is written but not looked at.
Status load_definitions(WriterCore& w, BlockId id);
// Of a block that is committed or packed.
Result<ClassicHeader> stored_header(WriterCore& w, BlockId id);

}  // namespace nmb
