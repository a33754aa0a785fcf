// LinkedValues: values of a block that stay in other files (spec/format.md, section 10.3).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nmb/byte_source.h"
#include "nmb/external_file.h"
#include "nmb/stored_piece.h"

namespace nmb {

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
