// ValueCoder: encodes values of blocks as pieces, so that their lengths are known before their
// blocks get places (spec/format.md, section 10.1).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "merge/reading/input_links.h"
#include "model/stored_piece.h"
#include "reader/extent_pieces.h"
#include "values/array_source.h"
#include "wire/spool_file.h"

namespace nmb {

// The values of a block, and how to encode them.
struct ValuesToCode {
  Source values;                 // all of the extent
  std::vector<ByteRange> holes;  // ranges of the extent, ascending: windows completely
                                 // inside one stay holes
  // For each window; kNone: only pieces that are already coded are kept.
  PieceCodec codec = PieceCodec::kNone;
  int level = 0;
  std::vector<ExtentPiece> coded;  // for codec kNone: the existing coded pieces, in order
  CodedFiles files;                // the files of these pieces
};

struct CodedValues {
  std::vector<StoredPiece> pieces;
  Source stored;
};

// Encodes each window of the piece size by itself: the result does not depend on the number of
// threads.
class ValueCoder {
 public:
  ValueCoder(std::uint32_t piece_size, unsigned threads, const std::atomic<bool>* cancel)
      : piece_size_(piece_size), threads_(threads), cancel_(cancel) {}

  // Returns the coded values for each of `all`; nullopt: no piece is coded. A window is not coded
  // if the codec saves less than a sixteenth or if its source does not store it. A window that
  // already is a coded piece stays unchanged; it is read nevertheless, so that damage is not passed
  // on. If such a piece is only a part of the window, the window is encoded with the same codec at
  // its usual level. Memory: two windows for each thread. Errors: kDamaged, kIo, kNoSpace (in the
  // folder for temporary files).
  Result<std::vector<std::optional<CodedValues>>> code(std::span<const ValuesToCode> all);

 private:
  // The result for one window.
  struct Window {
    std::size_t block;
    std::uint64_t from, to;  // in the extent
    PieceCodec codec = PieceCodec::kNone;
    std::uint64_t stored_length = 0;
    std::uint32_t source = 0;  // index in CodedValues::stored: values, spool, files
    std::uint64_t source_offset = 0;
  };
  std::vector<Window> windows_of(std::span<const ValuesToCode> all) const;
  Status code_window(const ValuesToCode& block, Window* window, std::vector<std::byte>& values);
  Status spool(const std::vector<std::byte>& stored, Window* window);
  CodedValues put_together(const ValuesToCode& block, std::span<const Window> windows) const;

  const std::uint32_t piece_size_;
  const unsigned threads_;
  const std::atomic<bool>* const cancel_;
  std::shared_ptr<SpoolFile> spool_;
  std::atomic<std::uint64_t> spooled_{0};
};

}  // namespace nmb
