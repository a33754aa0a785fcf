// Reads and writes data maps. A data map lists the pieces of an extent that is not a single run
// with a single sum (spec/format.md, section 10.1).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "extent/file_table.h"
#include "model/stored_piece.h"
#include "page/page.h"
#include "page/page_sink.h"
#include "superblock/superblock.h"
#include "wire/bytes.h"
#include "wire/place.h"

namespace nmb {

class ExternalFiles;

struct Piece {
  std::uint64_t logical = 0;  // offset in the extent
  std::uint64_t length = 0;
  bool hole = false;
  std::uint64_t position = 0;  // position in the piece's file; 0 for a hole
  std::uint64_t sum = 0;       // sum of the stored bytes
  PieceCodec codec = PieceCodec::kNone;
  std::uint64_t coded_length = 0;  // stored bytes of a coded piece; otherwise 0
  std::uint32_t file = 0;          // 0: this file; n: the file in row n - 1 of the file table
  std::uint64_t end() const { return logical + length; }
  // Returns whether the piece's bytes lie in this file, uncoded.
  bool is_plain() const { return !hole && codec == PieceCodec::kNone && file == 0; }
  std::uint64_t stored_length() const {
    return hole ? 0 : codec == PieceCodec::kNone ? length : coded_length;
  }
  friend bool operator==(const Piece&, const Piece&) = default;
};

// Reads a data map, each page only when it is needed. Keeps the last loaded leaf, and checks it
// only once. Not thread-safe.
class DataMap {
 public:
  // owner: position of the block's header. root.sum: the `sum` field of the root page. external:
  // opens the file's external files; nullptr for the map of an original, whose pieces all lie in
  // this file. `file`, `external` and `superblock` must outlive this object.
  DataMap(const ByteSource& file, const ExternalFiles* external, const Superblock& superblock,
          std::uint64_t owner, Place root, std::uint64_t extent_length)
      : file_(file),
        external_(external),
        superblock_(superblock),
        owner_(owner),
        root_(root),
        extent_length_(extent_length) {}

  // Visits the pieces that overlap [from, to), in ascending order. Stops at the first failure.
  Status for_each(std::uint64_t from, std::uint64_t to,
                  const std::function<Status(const Piece&)>& visit) const;
  Result<std::vector<Piece>> all() const;
  Result<std::shared_ptr<const Page>> root() const;
  Result<std::shared_ptr<const Page>> child(const Page& node, std::uint32_t row) const;
  const ByteSource& file() const { return file_; }

 private:
  // Checks a leaf whose pieces must end at `end`.
  Status check_leaf(const Page& leaf, std::uint64_t end) const;
  Status visit(const Page& page, std::uint64_t from, std::uint64_t to, std::uint64_t end,
               const std::function<Status(const Piece&)>& visit) const;
  Result<std::shared_ptr<const Page>> load(Place place, int level) const;
  const ByteSource& file_;
  const ExternalFiles* external_;
  const Superblock& superblock_;
  std::uint64_t owner_;
  Place root_;
  std::uint64_t extent_length_;
  mutable std::shared_ptr<const Page> root_page_;
  mutable std::shared_ptr<const Page> last_leaf_;
  mutable std::uint64_t checked_leaf_ = 0;  // position of the last checked leaf
};

// Checks R-EX-2, R-EX-4, R-EX-11 and R-EX-12 for a piece that is not a hole. If `rule` is given,
// all findings name this rule instead.
void check_piece_lengths(const Page& page, std::uint32_t row, const Piece& piece,
                         std::uint32_t piece_size, Findings& findings, const char* rule = nullptr);
// Checks R-FT-13 for a leaf of an original's map: all pieces lie in this file, and no piece is a
// hole.
void check_original_leaf(const Page& leaf, Findings& findings);
// Checks R-EX-1 to R-EX-4, R-EX-8, R-EX-10 to R-EX-14 and R-FT-10 for a leaf, whose pieces must
// begin at *next and end at or before `end`. Sets *next to the end of the last piece. files:
// nullptr if the file table is not known.
void check_data_map_leaf(const Page& leaf, std::uint64_t* next, std::uint64_t end,
                         std::uint32_t piece_size, const FileTable* files, Findings& findings);
Piece piece_at(const Page& leaf, std::uint32_t row);

// Reports to `sink` that all pages of a data map are no longer used. Errors: kUnsupported if a page
// forbids changes.
Status retire_data_map(const DataMap& map, PageSink& sink);

// Properties of the pieces of an extent that are known before their positions and sums.
struct PieceForecast {
  std::uint64_t count = 0;  // most pieces of the extent; 0: it needs no data map
  bool coded = false;       // whether pieces may be coded
  bool holes = false;       // whether pieces may be holes
  bool linked = false;      // whether pieces may lie in other files
};
// Returns the forecast for pieces of which only positions and sums are not known.
template <class Pieces>
PieceForecast forecast_of(const Pieces& pieces) {
  PieceForecast out{.count = pieces.size()};
  for (const StoredPiece& piece : pieces) {
    out.coded = out.coded || piece.codec != PieceCodec::kNone;
    out.holes = out.holes || piece.stored_length == 0;
  }
  return out;
}
// Returns the number of bytes that the pages of a new data map take at most. ahead: no piece of
// this file begins after this position.
std::uint64_t data_map_bound(const PieceForecast& pieces, std::uint64_t extent_length,
                             std::uint32_t piece_size, std::uint32_t map_rows, std::uint64_t ahead);

// The owner in the pages of an original's data map. number: file number of the original.
constexpr std::uint64_t owner_of_original(std::uint64_t number) {
  return std::uint64_t{1} << 63 | number;
}

// The right edge of a data map: the last page of each level, from the root to the last leaf.
using DataMapEdge = std::vector<std::shared_ptr<const Page>>;
// Reads and checks the right edge of a map. The extent must not be empty. Errors: kUnsupported if a
// page forbids changes.
Result<DataMapEdge> right_edge(const DataMap& map, std::uint64_t extent_length);
// Adds pieces after the last piece of a data map. Writes new pages, and new copies of pages of the
// edge, with at most `map_rows` rows each; all other pages are unchanged. Errors: kLimit, as for
// write_data_map().
Result<Place> append_to_data_map(const std::vector<Piece>& pieces, const DataMapEdge& edge,
                                 std::uint32_t map_rows, PageSink& sink, const Origin& origin,
                                 std::uint64_t owner);

// Writes the pages of a map, with at most `map_rows` rows each. Keeps the leaves of `old` whose
// rows do not change. A row that moves to a new leaf keeps its values in unknown columns. Errors:
// kUnsupported if a page forbids changes; kLimit if there are more pieces than a map can hold.
Result<Place> write_data_map(const std::vector<Piece>& pieces, const DataMap* old,
                             std::uint32_t map_rows, PageSink& sink, const Origin& origin,
                             std::uint64_t owner);

}  // namespace nmb
