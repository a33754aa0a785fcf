// ValueCoder: values of blocks as coded pieces, whose lengths are known before their blocks get
// places (spec/format.md, section 10.1).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "merge/reading/input_links.h"
#include "model/stored_piece.h"
#include "nmb/bytes.h"
#include "reader/extent_pieces.h"
#include "wire/spool_file.h"

namespace nmb {

// The values of a block, and what is to become of them.
struct ValuesToCode {
  std::shared_ptr<const ByteSource> values;  // all of the extent
  std::vector<ByteRange> holes;              // of it, ascending: whole windows in them stay holes
  // Of each window; kNone: coded ones stay so.
  PieceCodec codec = PieceCodec::kNone;
  int level = 0;
  std::vector<ExtentPiece> coded;  // with codec kNone: those there are, in order
  CodedFiles files;                // where these lie
};

struct CodedValues {
  std::vector<StoredPiece> pieces;
  std::shared_ptr<const ByteSource> stored;
};

// Windows of the piece size, each coded by itself: the outcome does not depend on the threads.
class ValueCoder {
 public:
  ValueCoder(std::uint32_t piece_size, unsigned threads, const std::atomic<bool>* cancel)
      : piece_size_(piece_size), threads_(threads), cancel_(cancel) {}

  // Of each of `all`; nullopt where no piece is coded. A window stays as it is where its codec does
  // not save a sixteenth, and where its source does not store it. One that is a coded piece already
  // stays that, and is read, so that what is not sound is not passed on; one of which that is a
  // part is coded likewise, at the codec's usual level. Memory: for each thread two windows.
  // kDamaged, kIo, kNoSpace (of the folder for temporary files).
  Result<std::vector<std::optional<CodedValues>>> code(std::span<const ValuesToCode> all);

 private:
  // What became of a window.
  struct Window {
    std::size_t block;
    std::uint64_t from, to;  // in the extent
    PieceCodec codec = PieceCodec::kNone;
    std::uint64_t stored_length = 0;
    std::uint32_t source = 0;  // in CodedValues::stored: values, spool, files
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
