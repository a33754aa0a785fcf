// External files: other files in which an NMB file keeps values (spec/format.md, section 10.3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nmb/bytes.h"
#include "nmb/status.h"

namespace nmb {

// A row of the file table.
struct ExternalFile {
  // Relative to the folder of the NMB file, with '/' between its parts; or absolute. For an
  // original: the path that it had as an input, which may be any bytes and is only for display.
  std::string path;
  std::uint64_t size = 0;  // of the file, in bytes
  // The whole file is stored in the NMB file; Reader::give_back() returns it.
  bool is_original = false;
  Digest digest{};                 // originals: XXH3-128 of all bytes
  std::uint64_t order = 0;         // originals: BlockEntry::order of the block that the file became
  std::optional<Sha256> sha256{};  // originals: of all bytes, if it was recorded
  friend bool operator==(const ExternalFile&, const ExternalFile&) = default;
};

// Which external files may be opened. Their paths come from a file that anybody may have written.
enum class ExternalPaths : std::uint8_t {
  kNone,
  kBeneath,  // in the folder of the NMB file or below it, without symbolic links in the path
  kAny,      // also absolute paths, ".." and symbolic links
};

// Returns the path of a linked input for the file table of `output`. kBeneath: a relative path with
// symbolic links resolved; kUnsupported if `input` is not in the folder of `output` or below it.
// kAny: absolute if `input` is absolute or cannot be reached from that folder, else relative,
// perhaps with "..". kUnsupported: a name that a file table cannot hold (spec/format.md, R-FT-1);
// kNotFound, kIo.
NMB_EXPORT Result<std::string> external_path(const std::string& input, const std::string& output,
                                             ExternalPaths allowed);

}  // namespace nmb
