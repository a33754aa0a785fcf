// External files: files beside an NMB file in which values of it lie (spec/format.md, section
// 10.3).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nmb/bytes.h"
#include "nmb/status.h"

namespace nmb {

// A row of the file table.
struct ExternalFile {
  // Relative to the folder of the NMB file, parts separated by '/'; or absolute. Of an original the
  // path under which it was given: any bytes, for people.
  std::string path;
  std::uint64_t size = 0;  // bytes that the file has
  // The file lies whole in the NMB file, which Reader::give_back() makes use of.
  bool is_original = false;
  Digest digest{};  // of an original: XXH3-128 of its bytes
  friend bool operator==(const ExternalFile&, const ExternalFile&) = default;
};

// Which external files are opened. A file names them, and anybody may have written it.
enum class ExternalPaths : std::uint8_t {
  kNone,
  kBeneath,  // in the folder of the NMB file or below it, without symbolic links on the way
  kAny,      // absolute paths, "..", symbolic links too
};

// Of an input that is linked: its path as the file table of `output` has it. kBeneath: relative,
// symbolic links resolved; kUnsupported where it is not in the folder of `output` or below it.
// kAny: absolute where `input` is or has no way from that folder, else relative, perhaps with "..".
// kUnsupported: a name that no table can have (spec/format.md, R-FT-1); kNotFound, kIo.
NMB_EXPORT Result<std::string> external_path(const std::string& input, const std::string& output,
                                             ExternalPaths allowed);

}  // namespace nmb
