// ValueCoder: encodes values of blocks as pieces (spec/format.md, section 10.1). The values are
// encoded before the blocks get their positions in the file, because the positions depend on the
// encoded lengths.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "files/spool_file.h"
#include "merge/reading/input_links.h"
#include "merge/storing/view_pieces.h"
#include "model/stored_piece.h"
#include "reader/extent_pieces.h"
#include "sources/value_source.h"
#include "values/chunk_coding.h"

namespace nmb {

// The values of a block, and how to encode them.
struct ValuesToCode {
  Source values;                 // the whole extent
  std::vector<ByteRange> holes;  // ranges of the extent, ascending; a window that lies completely
                                 // inside a hole stays a hole
  // The codec for each window. With kNone, windows without coded pieces stay uncoded, and pieces
  // that are already coded stay coded.
  PieceCodec codec = PieceCodec::kNone;
  int level = 0;
  std::vector<ExtentPiece> coded;  // if `codec` is kNone: the existing coded pieces, in order
  CodedFiles files;
  // If set, each window is a piece of these ranges, and bytes outside of all ranges are not coded.
  // An HDF5 view can then show the pieces.
  std::optional<std::vector<EqualPieces>> for_view{};
};

struct CodedValues {
  std::vector<StoredPiece> pieces;
  Source stored;
};

// Divides extents into windows and encodes each window by itself, so that the result does not
// depend on the number of threads and helpers. Windows have the piece size, unless
// ValuesToCode::for_view is set.
class ValueCoder {
 public:
  // The helpers run encode_windows().
  ValueCoder(std::uint32_t piece_size, const CodingRules& rules)
      : piece_size_(piece_size), rules_(rules) {}

  // Returns the coded values for each element of `all`, or nullopt for an element without coded
  // pieces. A window is not coded if the codec saves less than a sixteenth of the window's bytes or
  // if the source does not store the window. A window that is already a coded piece stays
  // unchanged, but it is read to detect damage. If a coded piece is only a part of a window, the
  // window is encoded with the same codec at the codec's usual level. Each thread needs memory for
  // two windows. Errors: kDamaged, kIo, kNoSpace (in the folder for temporary files).
  Result<std::vector<std::optional<CodedValues>>> code(std::span<const ValuesToCode> all);

 private:
  // The result for one window.
  struct Window {
    std::size_t block;
    std::uint64_t from, to;  // range in the extent
    PieceCodec codec = PieceCodec::kNone;
    std::uint64_t stored_length = 0;
    std::uint32_t source = 0;  // index in CodedValues::stored (see StoredIn)
    std::uint64_t source_offset = 0;
    bool may_code = true;
  };
  std::vector<Window> windows_of(std::span<const ValuesToCode> all) const;
  // Adds the windows of a block whose for_view is set.
  void add_view_windows(std::size_t block, const ValuesToCode& values,
                        std::vector<Window>* out) const;
  using Windows = std::vector<Window*>;
  // Encodes windows, on threads of this rank and on the helpers.
  Status share(std::span<const ValuesToCode> all, std::span<Window* const> windows);
  Status code_here(std::span<const ValuesToCode> all, const Windows& windows);
  // Returns no bytes if another rank cannot read the values of the windows.
  Result<std::vector<std::byte>> job_of(std::span<const ValuesToCode> all,
                                        const Windows& windows) const;
  Status code_window(const ValuesToCode& block, Window* window, std::vector<std::byte>& values);
  Status spool(const std::vector<std::byte>& stored, Window* window);
  CodedValues put_together(const ValuesToCode& block, std::span<const Window> windows) const;

  const std::uint32_t piece_size_;
  const CodingRules rules_;
  std::shared_ptr<SpoolFile> spool_;
  std::atomic<std::uint64_t> spooled_{0};
};

}  // namespace nmb
