// Originals of an NMB file: input files that are stored in it whole (spec/format.md, section 10.3).
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
  std::optional<std::string> block;  // that the file became; nullopt: it was removed
};

// Returns all originals, with one pass through the index if there are any.
Result<std::vector<OriginalFile>> originals_of(const Reader& reader);

// Returns the original that became block `name`, or else the only one that became a block below it,
// or else the only one with that path; nullopt: there is none. kConflict: there are several.
Result<std::optional<OriginalFile>> find_original(const Reader& reader, const std::string& name);

// Returns 64 or 32 hexadecimal digits.
std::string hexadecimal(const Sha256& digest);
std::string hexadecimal(const Digest& digest);

// "OUT: keeps no original of 2 files, because of --compress; ...".
std::string without_original_text(const std::string& output, std::uint64_t count,
                                  const std::string& option);

// Returns an original as JSON reports show it.
Json original_json(const OriginalFile& original);

}  // namespace nmb::tools
