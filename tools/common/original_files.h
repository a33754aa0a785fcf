// Originals of an NMB file: input files that are stored whole in the NMB file (spec/files.md,
// section 10.3), and classic files with recorded digests that became blocks (section 10.5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/printing/json_document.h"
#include "reader/file_reader.h"

namespace nmb::tools {

struct OriginalFile {
  std::uint32_t number = 0;  // file number; 0: a classic file that became a block, without a path
  ExternalFile file;
  std::optional<std::string> block;  // the block that the original became; nullopt if the original
                                     // is dead, because the block was replaced or removed
};

// Returns all originals, and after them the classic files with recorded digests. Reads the whole
// index.
Result<std::vector<OriginalFile>> originals_of(const FileReader& reader);

// Finds an original in three steps. First looks for the original that became block `name`, then for
// an original that became a block below `name`, and then for an original with the path `name`.
// Originals of blocks that were replaced or removed are dead and are never found. Returns nullopt
// if no step finds an original, or if block `name` came from a classic file. Errors: kConflict if a
// step finds several originals; kNotFound if only dead originals have the path `name`.
Result<std::optional<OriginalFile>> find_original(const FileReader& reader,
                                                  const std::string& name);

// Returns the text of a note, for example "OUT: stores no originals of 2 HDF5 files, because ...".
// `option` names the option that prevents the storing of originals.
std::string without_original_text(const std::string& output, std::uint64_t count,
                                  const std::string& option);

// Returns the text of a note about originals that are left out because only some of their blocks
// are chosen.
std::string parted_originals_text(const std::string& output, std::uint64_t count);

// Returns the text of a note about values that are stored twice. The numbers are those of
// PackReport. Returns nullopt if these values take at most 1 % of the originals.
std::optional<std::string> stored_twice_text(const std::string& output, std::uint64_t stored_twice,
                                             std::uint64_t original_bytes);

// Returns the JSON object that describes an original in reports.
Json original_json(const OriginalFile& original);

}  // namespace nmb::tools
