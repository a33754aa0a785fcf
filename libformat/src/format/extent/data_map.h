// Data maps: the pieces of an extent that is not one run under one sum (spec/format.md,
// section 10.1).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "format/extent/file_table.h"
#include "format/page/page.h"
#include "format/page/page_sink.h"
#include "format/superblock/superblock.h"
#include "model/stored_piece.h"
#include "nmb/bytes.h"
#include "wire/place.h"

namespace nmb {

class ExternalFiles;

struct Piece {
  std::uint64_t logical = 0;  // offset in the extent
  std::uint64_t length = 0;
  bool hole = false;
  std::uint64_t position = 0;  // in its file; 0: a hole
  std::uint64_t sum = 0;       // of the stored bytes
  PieceCodec codec = PieceCodec::kNone;
  std::uint64_t coded_length = 0;  // number of stored bytes if it has a codec, otherwise 0
  std::uint32_t file = 0;          // 0: this file; n: row n - 1 of the file table
  std::uint64_t end() const { return logical + length; }
  // Returns whether its bytes lie in this file without a codec.
  bool is_plain() const { return !hole && codec == PieceCodec::kNone && file == 0; }
  std::uint64_t stored_length() const {
    return hole ? 0 : codec == PieceCodec::kNone ? length : coded_length;
  }
  friend bool operator==(const Piece&, const Piece&) = default;
};

// Reads a map. Pages are loaded when needed; the last leaf is kept and checked once. Not
// thread-safe.
class DataMap {
 public:
  // owner: position of the block's header. root.sum is the page's `sum` field. external: the file's
  // external files; nullptr: the map is that of an original, whose pieces all lie in this file.
  // `file`, `external` and `superblock` must outlive it.
  DataMap(const ByteSource& file, const ExternalFiles* external, const Superblock& superblock,
          std::uint64_t owner, Place root, std::uint64_t extent_length)
      : file_(file),
        external_(external),
        superblock_(superblock),
        owner_(owner),
        root_(root),
        extent_length_(extent_length) {}

  // Visits the pieces that overlap [from, to), in order; stops at the first failure.
  Status for_each(std::uint64_t from, std::uint64_t to,
                  const std::function<Status(const Piece&)>& visit) const;
  Result<std::vector<Piece>> all() const;
  Result<std::shared_ptr<const Page>> root() const;
  Result<std::shared_ptr<const Page>> child(const Page& node, std::uint32_t row) const;
  const ByteSource& file() const { return file_; }

 private:
  // The pieces must end at `end`.
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
  mutable std::uint64_t checked_leaf_ = 0;  // position of the last one
};

// Checks a piece that is not a hole: `length_rule` (R-EX-2) and `codec_rule` (R-EX-4).
void check_piece_lengths(const char* length_rule, const char* codec_rule, const Page& page,
                         std::uint32_t row, const Piece& piece, std::uint32_t piece_size,
                         Findings& findings);
// Checks R-FT-6 of a leaf of an original's map: its pieces lie in this file and none is a hole.
void check_original_leaf(const Page& leaf, Findings& findings);
// Checks R-EX-1 to R-EX-4, R-EX-8 and R-FT-3 of a leaf whose pieces must cover [*next, end); sets
// *next to the end of its last piece. files: nullptr if the file table is unknown.
void check_data_map_leaf(const Page& leaf, std::uint64_t* next, std::uint64_t end,
                         std::uint32_t piece_size, const FileTable* files, Findings& findings);
Piece piece_at(const Page& leaf, std::uint32_t row);

// Reports all pages of a map that is no longer used. Errors: kUnsupported: a page forbids changes.
Status retire_data_map(const DataMap& map, PageSink& sink);

// The right edge of a map, from the root to the last leaf.
using DataMapEdge = std::vector<std::shared_ptr<const Page>>;
// Reads and checks the edge of the map of a non-empty extent. Errors: kUnsupported: a page forbids
// changes.
Result<DataMapEdge> right_edge(const DataMap& map, std::uint64_t extent_length);
// Adds pieces after the last one; only pages of the edge are written again, with at most map_rows
// rows. Errors: kLimit: see write_data_map().
Result<Place> append_to_data_map(const std::vector<Piece>& pieces, const DataMapEdge& edge,
                                 std::uint32_t map_rows, PageSink& sink, const Origin& origin,
                                 std::uint64_t owner);

// Writes the pages of a map, with at most map_rows rows. Leaves whose rows equal those of `old` are
// kept, and so are unknown columns of other rows that stay. Errors: kUnsupported: a page forbids
// changes; kLimit: more pieces than a map can hold.
Result<Place> write_data_map(const std::vector<Piece>& pieces, const DataMap* old,
                             std::uint32_t map_rows, PageSink& sink, const Origin& origin,
                             std::uint64_t owner);

}  // namespace nmb
