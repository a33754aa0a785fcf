// External files: other files in which an NMB file keeps values (spec/files.md, section 10.3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nmb/options.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// A row of the file table.
struct ExternalFile {
  // Path of the file, absolute or relative to the folder of the NMB file, with '/' between its
  // parts. For an original, this is the path of the input file. The path of an original may contain
  // any bytes and is only for display.
  std::string path;
  std::uint64_t size = 0;  // size of the file in bytes
  // Whether the whole file is stored in the NMB file. If so, FileReader::give_back() returns this
  // file.
  bool is_original = false;
  Digest digest{};  // for originals only: XXH3-128 of all bytes
  // For originals only: BlockEntry::order of the block that the file became, and the SHA-256 of all
  // bytes, if it was recorded.
  std::uint64_t order = 0;
  std::optional<Sha256> sha256{};
  friend bool operator==(const ExternalFile&, const ExternalFile&) = default;
};

// Returns the path that the file table of `output` records for a linked input. With kBeneath, the
// path is relative, and symbolic links are resolved; the call fails with kUnsupported if `input` is
// not in the folder of `output` or below it. With kAny, the path is absolute if `input` is absolute
// or cannot be reached from the folder of `output`; otherwise it is relative and may contain "..".
// Errors: kUnsupported if a file table cannot hold the path (spec/format.md, R-FT-1); kNotFound;
// kIo.
NMB_EXPORT Result<std::string> external_path(const std::string& input, const std::string& output,
                                             ExternalPaths allowed);

}  // namespace nmb
