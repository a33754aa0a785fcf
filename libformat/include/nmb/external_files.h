// External files: files beside an NMB file in which values of it lie (spec/format.md, section
// 10.3).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// PieceCodec: how the bytes of a stored piece are coded (spec/format.md, section 8.2).
enum class PieceCodec : std::uint8_t { kNone = 0, kZstd = 1, kDeflate = 3 };

// StoredPiece: a part of an extent as it is stored (spec/format.md, section 10.1).
struct StoredPiece {
  std::uint64_t length = 0;  // of the values
  PieceCodec codec = PieceCodec::kNone;
  std::uint64_t stored_length = 0;  // 0: a hole
  std::uint64_t source_offset = 0;  // where the stored bytes lie in their source
};

// LinkedValues: values of a block that stay in other files (spec/format.md, section 10.3).

struct LinkedPiece : StoredPiece {  // source_offset: in LinkedValues::source
  static constexpr std::uint32_t kCopied = ~std::uint32_t{0};
  std::uint32_t file = 0;              // in LinkedValues::files; kCopied: the bytes are copied in
  std::uint64_t position = 0;          // of the stored bytes, in that file
  std::optional<std::uint64_t> sum{};  // that the stored bytes must have
};

struct LinkedValues {
  std::vector<ExternalFile> files;  // as rows of the file table; those that no piece names are left
                                    // out
  std::vector<LinkedPiece> pieces;  // in order; they make up the extent
  std::shared_ptr<const ByteSource> source;  // of the stored bytes, which are read once and summed
  // What WriterOptions::open_values opens `source` by, where that is the extent, cut at multiples
  // of the piece size; else empty.
  std::string origin{};
};

}  // namespace nmb
