// Values of a block that are stored already: pieces that a writer takes as they are, and values
// that stay in other files (spec/format.md, sections 10.1 and 10.3).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/stored_piece.h"
#include "nmb/bytes.h"
#include "nmb/external_files.h"
#include "nmb/writer.h"

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
  // The number of an original of this writer (Writer::add_original()): it is the only file, and the
  // pieces lie in it.
  std::optional<std::uint32_t> original{};
  // What WriterOptions::open_values opens `source` by, where that is the extent, cut at multiples
  // of the piece size; else empty.
  std::string origin{};
};

// The values of a new block, packed or defined, which the next commit moves from `stored` as they
// are, in place of PackedBlock::extent, its holes and Writer::take_values(): pieces, in order.
// kUsage: they cross a multiple of the piece size, have lengths that R-EX-4 forbids, lie outside
// `stored` or are nothing but holes; from end_define: they do not make up the extent, or several
// ranks share the block.
Status take_pieces(Writer& writer, BlockId block, std::vector<StoredPiece> pieces,
                   std::shared_ptr<const ByteSource> stored);

// The values of a new block, packed or defined, which stay in the files where they are, in place of
// PackedBlock::extent, its holes and Writer::take_values(): the next commit reads them once for
// their sums and names the files in the file table. Pieces that lie in no file are copied in.
// kUsage: as take_pieces(), nothing but copied pieces, or a path that R-FT-1 forbids; from
// end_define as there. The commit fails with kDamaged where a piece has another sum than was given,
// or the file table another size of a file.
Status link_values(Writer& writer, BlockId block, LinkedValues values);

}  // namespace nmb
