// Sets values of a block that are already stored in a file. The writer either copies the stored
// pieces without change, or leaves the values in their file and refers to them (spec/format.md,
// sections 10.1 and 10.3).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/external_files.h"
#include "model/stored_piece.h"
#include "ranks/writer_options.h"
#include "wire/bytes.h"

namespace nmb {

class FileWriter;

// A piece of linked values. StoredPiece::source_offset is an offset in LinkedValues::source.
struct LinkedPiece : StoredPiece {
  static constexpr std::uint32_t kCopied = ~std::uint32_t{0};
  // Index in LinkedValues::files of the file that contains the piece; kCopied if the piece is
  // copied.
  std::uint32_t file = 0;
  std::uint64_t position = 0;          // position of the stored bytes in that file
  std::optional<std::uint64_t> sum{};  // expected sum of the stored bytes
};

struct LinkedValues {
  // The files, as rows of the file table. Files without pieces are not added to the table.
  std::vector<ExternalFile> files;
  std::vector<LinkedPiece> pieces;  // all pieces of the extent, in order
  // Source of the stored bytes. The commit reads the stored bytes once to compute their sums.
  std::shared_ptr<const ByteSource> source;
  // The number of an original that was added with FileWriter::add_original(). If it is set, this
  // original is the only file, and the pieces lie in it.
  std::optional<std::uint32_t> original{};
  // The description that FileWriterOptions::open_values needs to open `source`; empty if there is
  // none. Allowed only if `source` is the extent itself and each piece is one window of the piece
  // size.
  std::string origin{};
};

// Sets the values of a new block as a list of stored pieces, in order. The block may be packed or
// defined. The next commit copies the stored bytes from `stored` without change. Use this function
// in place of PackedBlock::extent with its holes and in place of FileWriter::take_values(). Errors:
// kUsage if a piece without a codec crosses a multiple of the piece size; if a piece has lengths
// that R-EX-12 forbids; if a piece lies outside `stored`; if all pieces are holes. Later,
// end_define() fails with kUsage if the pieces do not make up the extent, or if several ranks share
// the block.
Status take_pieces(FileWriter& writer, BlockId block, std::vector<StoredPiece> pieces,
                   std::shared_ptr<const ByteSource> stored);

// Sets the values of a new block to values that stay in other files. The block may be packed or
// defined. The next commit reads the values once to compute their sums, and adds the files to the
// file table. Pieces that are in none of the files are copied. Use this function in place of
// PackedBlock::extent with its holes and in place of FileWriter::take_values(). Errors: kUsage for
// the same reasons as take_pieces(); if all pieces are copied; if R-FT-1 forbids a path. Later,
// end_define() fails with kUsage for the same reasons as after take_pieces(). The commit fails with
// kDamaged if a piece does not have its expected sum, or if the file table already has another size
// for a file.
Status link_values(FileWriter& writer, BlockId block, LinkedValues values);

}  // namespace nmb
