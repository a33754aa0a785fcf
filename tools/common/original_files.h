// Originals of an NMB file: input files that are stored whole in the NMB file (spec/format.md,
// section 10.3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/json_document.h"
#include "nmb/reader.h"

namespace nmb::tools {

struct OriginalFile {
  std::uint32_t number = 0;  // file number
  ExternalFile file;
  std::optional<std::string> block;  // the block that the original became; nullopt if the block was
                                     // removed
};

// Returns all originals. Reads the whole index if there are originals.
Result<std::vector<OriginalFile>> originals_of(const Reader& reader);

// Returns the original that became block `name`. If there is none, returns the only original that
// became a block below `name`, or else the only original with the path `name`, or else nullopt.
// Errors: kConflict if there are several such originals.
Result<std::optional<OriginalFile>> find_original(const Reader& reader, const std::string& name);

// Return the digest as 64 or 32 hexadecimal digits.
std::string hexadecimal(const Sha256& digest);
std::string hexadecimal(const Digest& digest);

// Returns the text of a note, for example "OUT: stores no originals of 2 HDF5 files, because ...".
// `option` is the option because of which no originals are stored.
std::string without_original_text(const std::string& output, std::uint64_t count,
                                  const std::string& option);

// Returns an original as JSON reports show it.
Json original_json(const OriginalFile& original);

}  // namespace nmb::tools
