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

// A piece of linked values. StoredPiece::source_offset counts in LinkedValues::source.
struct LinkedPiece : StoredPiece {
  static constexpr std::uint32_t kCopied = ~std::uint32_t{0};
  // Index in LinkedValues::files of the file that contains the piece. kCopied: the piece is copied.
  std::uint32_t file = 0;
  std::uint64_t position = 0;          // position in that file of the stored bytes
  std::optional<std::uint64_t> sum{};  // expected sum of the stored bytes
};

struct LinkedValues {
  // The files, as rows of the file table. Files without pieces are not added to the table.
  std::vector<ExternalFile> files;
  std::vector<LinkedPiece> pieces;  // all pieces of the extent, in order
  // Source of the stored bytes. The commit reads the stored bytes once to compute their sums.
  std::shared_ptr<const ByteSource> source;
  // The number of an original of this writer (Writer::add_original()). The original is then the
  // only file, and the pieces lie in it.
  std::optional<std::uint32_t> original{};
  // Description with which WriterOptions::open_values opens `source`. Allowed only if `source` is
  // the extent itself and the pieces are its windows of the piece size. Empty if there is none.
  std::string origin{};
};

// Sets the values of a new block, packed or defined, as pieces in their stored form, in order. The
// next commit copies the stored bytes from `stored` without change. The pieces replace
// PackedBlock::extent, its holes and Writer::take_values(). Fails with kUsage if a piece crosses a
// multiple of the piece size without a codec, has lengths that R-EX-4 forbids, or lies outside
// `stored`, or if all pieces are holes. end_define() fails with kUsage if the pieces do not make up
// the extent, or if several ranks share the block.
Status take_pieces(Writer& writer, BlockId block, std::vector<StoredPiece> pieces,
                   std::shared_ptr<const ByteSource> stored);

// Sets the values of a new block, packed or defined, that stay in the files where they are. The
// next commit reads the values once to compute their sums, and adds the files to the file table.
// Pieces that are not in a file are copied. The pieces replace PackedBlock::extent, its holes and
// Writer::take_values(). Fails with kUsage for the same reasons as take_pieces(), if all pieces are
// copied, or if R-FT-1 forbids a path. end_define() fails with kUsage for the same reasons as after
// take_pieces(). The commit fails with kDamaged if the sum of a piece is not the given sum, or if
// the file table already has another size for a file.
Status link_values(Writer& writer, BlockId block, LinkedValues values);

}  // namespace nmb
