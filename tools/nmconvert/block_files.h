// The files that blocks of an NMB file become with --out-dir: one for each block that --extract or
// --original matches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/original_files.h"
#include "nmconvert/conversion_record.h"
#include "reader/file_reader.h"
#include "wire/failure.h"

namespace nmb::tools {

struct BlockFile {
  std::string block;
  std::string output;       // DIR/BLOCK.ENDING, or DIR/PATH for an original with a path
  std::uint64_t bytes = 0;  // of the block, or of the original
  std::optional<OriginalFile> original;  // a file that is stored whole
};

// Returns the failure kNotFound that no block matches `glob`. If a block has this text as its name,
// the message says how to write the name as a glob.
Status no_block_matches(const FileReader& reader, const std::string& glob);

// Returns the files for all blocks that match `glob`. A block below a group that matches is written
// with this group. ending: for example ".nc". Errors:
// kUsage for a wrong glob; kNotFound if no block matches; kConflict if the name of a block is not
// the path of a file below the folder.
Result<std::vector<BlockFile>> files_of_blocks(const FileReader& reader, const std::string& glob,
                                               const std::string& folder,
                                               const std::string& ending);

// Returns the original files of all blocks that match `glob`, and the stored files whose paths
// match. The file of a classic block without a path is DIR/BLOCK.nc. Errors: as above; kNotFound if
// the original of a block is not stored; kConflict if two originals have the same path.
Result<std::vector<BlockFile>> files_of_originals(const FileReader& reader, const std::string& glob,
                                                  const std::string& folder);

}  // namespace nmb::tools
