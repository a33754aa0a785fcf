#include "extent/data_map.h"

#include <algorithm>
#include <bit>
#include <map>

#include "block/body_codec.h"
#include "extent/external_files.h"
#include "extent/piece_codec.h"
#include "wire/checked.h"
#include "wire/codecs.h"
#include "wire/joined_text.h"

namespace nmb {

Piece piece_at(const Page& leaf, std::uint32_t row) {
  // Numbers above 255 break R-EX-4 in any case, so they become 255.
  const auto codec = static_cast<PieceCodec>(std::min<std::uint64_t>(leaf.value(row, kCodec), 255));
  return {.logical = leaf.value(row, kLogicalOffset),
          .length = leaf.value(row, kRawLength),
          .hole = leaf.value(row, kState) == 1,
          .position = leaf.value(row, kPosition),
          .sum = leaf.value(row, kSum),
          .codec = codec,
          .coded_length = codec == PieceCodec::kNone ? 0 : leaf.value(row, kStoredLength),
          // Larger numbers break R-EX-8 in any case, so they become 2^32 - 1.
          .file = static_cast<std::uint32_t>(
              std::min<std::uint64_t>(leaf.value(row, kFileNumber), ~std::uint32_t{0}))};
}

void check_piece_lengths(const Page& page, std::uint32_t row, const Piece& piece,
                         std::uint32_t piece_size, Findings& findings, const char* rule) {
  const auto report = [&](const char* own_rule, Column column, std::string found,
                          std::string expected) {
    findings.report({rule ? rule : own_rule, page.value_offset(row, column), "piece of a data map",
                     std::move(found), std::move(expected)});
  };
  const std::uint64_t codec = page.value(row, kCodec), stored = page.value(row, kStoredLength);
  if (!is_piece_codec(codec))
    report("R-EX-4", kCodec, joined_text("codec ", codec), codec_numbers());
  else if (codec == 0 && stored != piece.length)
    report("R-EX-12", kStoredLength, joined_text("stored length ", stored),
           std::to_string(piece.length));
  else if (codec != 0 && !is_piece_length(stored, piece.length))
    report("R-EX-12", kStoredLength, joined_text("stored length ", stored, " of a coded piece"),
           joined_text("less than the raw length ", piece.length, ", and at least 1/",
                       kMaxExpansion, " of it"));
  if (piece.length > piece_size)
    report("R-EX-2", kLogicalOffset, joined_text("a piece of ", piece.length, " bytes"),
           joined_text("at most ", piece_size));
  else if (codec == 0 && piece.length != 0 &&
           piece.logical / piece_size != (piece.end() - 1) / piece_size)
    report("R-EX-11", kLogicalOffset, "an uncoded piece across a multiple of the piece size",
           "an end at or before that multiple");
}

void check_original_leaf(const Page& leaf, Findings& findings) {
  for (std::uint32_t row = 0; row < leaf.rows(); ++row)
    for (const Column column : {kState, kFileNumber})
      if (leaf.value(row, column) != 0)
        findings.report({"R-FT-13", leaf.value_offset(row, column), "data map of an original",
                         column == kState ? "a hole" : "a piece in another file",
                         "pieces in this file"});
}

void check_data_map_leaf(const Page& leaf, std::uint64_t* next, std::uint64_t end,
                         std::uint32_t piece_size, const FileTable* files, Findings& findings) {
  for (std::uint32_t row = 0; row < leaf.rows(); ++row) {
    auto report = [&](const char* rule, Column column, std::string found, std::string expected) {
      findings.report({rule, leaf.value_offset(row, column), "piece of a data map",
                       std::move(found), std::move(expected)});
    };
    const Piece piece = piece_at(leaf, row);
    const std::uint64_t state = leaf.value(row, kState);
    if (state > 1) report("R-EX-3", kState, joined_text("state ", state), "0 or 1");
    if (const std::size_t bytes = leaf.row_bytes(row).size(); bytes != 0)
      report("R-EX-18", kBytesEnd, joined_text(bytes, " bytes in the row of a piece"), "0");
    if (piece.length == 0) report("R-EX-14", kRawLength, "raw length 0", "at least 1");
    if (piece.logical != *next)
      report("R-EX-1", kLogicalOffset, joined_text("logical offset ", piece.logical),
             std::to_string(*next));
    if (piece.logical > end || piece.length > end - piece.logical) {
      report(end == ~std::uint64_t{0} >> 1 ? "R-EX-10" : "R-EX-9", kRawLength,
             "a piece that ends after the extent", joined_text("an end of at most ", end));
      *next = end;
      continue;
    }
    *next = piece.end();
    if (piece.hole) {
      auto expect_none = [&](Column column, const char* what) {
        if (const std::uint64_t found = leaf.value(row, column); found != 0)
          report("R-EX-13", column, joined_text(what, found), "0");
      };
      expect_none(kCodec, "a hole with codec ");
      expect_none(kPosition, "a hole with position ");
      expect_none(kStoredLength, "a hole with stored length ");
      expect_none(kSum, "a hole with sum ");
      expect_none(kFileNumber, "a hole with file number ");
    } else {
      const std::uint64_t file = leaf.value(row, kFileNumber);
      if (files && file > files->rows()) {
        report("R-EX-8", kFileNumber, joined_text("file number ", file),
               joined_text("at most ", files->rows()));
      } else if (files && file != 0 && !files->is_known(static_cast<std::uint32_t>(file) - 1)) {
        report("R-EX-8", kFileNumber,
               joined_text("file number ", file, ", a row of a later version"),
               "an external file or an original");
      } else if (files && file != 0) {
        const std::uint64_t size = files->size(static_cast<std::uint32_t>(file) - 1);
        if (piece.position > size || leaf.value(row, kStoredLength) > size - piece.position)
          report("R-FT-10", kPosition,
                 joined_text("a piece of ", leaf.value(row, kStoredLength), " bytes at ",
                             piece.position),
                 joined_text("an end within the ", size, " bytes of its file"));
      }
      check_piece_lengths(leaf, row, piece, piece_size, findings);
    }
  }
}

Result<std::shared_ptr<const Page>> DataMap::load(Place place, int level) const {
  PageExpectation expect =
      superblock_.expectation(PageUse::kDataMap, static_cast<std::uint16_t>(std::max(level, 0)));
  expect.any_level = level < 0;
  expect.position = place.position;
  if (place.length > ~std::uint32_t{0})
    return Status(
        Code::kDamaged, file_.name(), place.position, "R-PG-3",
        joined_text("found a data map page of ", place.length, " bytes, expected less than 2^32"));
  expect.length = static_cast<std::uint32_t>(place.length);
  expect.sum = place.sum;
  expect.owner = owner_;
  return read_page(file_, expect);
}

Result<std::shared_ptr<const Page>> DataMap::root() const {
  if (!root_page_) {
    NMB_ASSIGN(root_page_, load(root_, -1));
  }
  return root_page_;
}

Result<std::shared_ptr<const Page>> DataMap::child(const Page& node, std::uint32_t row) const {
  const Place place{node.value(row, kPosition), node.value(row, kStoredLength),
                    node.value(row, kSum)};
  if (last_leaf_ && last_leaf_->position() == place.position && node.level() == 1)
    return last_leaf_;
  NMB_ASSIGN(std::shared_ptr<const Page> page, load(place, node.level() - 1));
  if (page->level() == 0) last_leaf_ = page;
  return page;
}

// Checks R-EX-17 for the pieces of one leaf. A reader does not compare all pieces of an extent. But
// without this check, a few rows could make a reader decode the same bytes again and again.
static void check_shared_bytes(const Page& leaf, Findings& findings) {
  struct Range {
    std::uint32_t file;
    std::uint64_t begin, end;
    std::uint32_t row;
  };
  std::vector<Range> ranges;
  for (std::uint32_t row = 0; row < leaf.rows(); ++row)
    if (const Piece piece = piece_at(leaf, row); piece.file != 0 && !piece.hole)
      ranges.push_back({piece.file, piece.position, piece.position + piece.stored_length(), row});
  std::ranges::sort(ranges, {}, [](const Range& r) { return std::pair(r.file, r.begin); });
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].file == ranges[i - 1].file && ranges[i].begin < ranges[i - 1].end)
      findings.report(
          {"R-EX-17", leaf.value_offset(std::max(ranges[i].row, ranges[i - 1].row), kPosition),
           "piece of a data map", "a piece with bytes of another piece of the extent", "its own"});
}

Status DataMap::check_leaf(const Page& leaf, std::uint64_t end) const {
  FirstFinding first;
  std::uint64_t next = leaf.value(0, kLogicalOffset);
  std::shared_ptr<const FileTable> files;
  if (!external_) {
    check_original_leaf(leaf, first);
  } else if (leaf.has(kFileNumber)) {
    NMB_ASSIGN(files, external_->table());
  }
  check_data_map_leaf(leaf, &next, end, superblock_.piece_size, files.get(), first);
  if (!first.found() && next != end)
    first.report({"R-EX-9", leaf.position(), "data map", joined_text("pieces that end at ", next),
                  std::to_string(end)});
  check_shared_bytes(leaf, first);
  NMB_TRY(first.status(file_.name()));
  checked_leaf_ = leaf.position();
  return {};
}

Status DataMap::visit(const Page& page, std::uint64_t from, std::uint64_t to, std::uint64_t end,
                      const std::function<Status(const Piece&)>& on_piece) const {
  if (page.level() == 0) {
    if (page.position() != checked_leaf_) NMB_TRY(check_leaf(page, end));
    // The pieces are in ascending order. Find the last one that begins at or before `from`.
    std::uint32_t row = 0;
    for (std::uint32_t behind = page.rows(); behind - row > 1;) {
      const std::uint32_t middle = row + (behind - row) / 2;
      (page.value(middle, kLogicalOffset) <= from ? row : behind) = middle;
    }
    for (; row < page.rows(); ++row) {
      const Piece piece = piece_at(page, row);
      if (piece.end() <= from) continue;
      if (piece.logical >= to) break;
      NMB_TRY(on_piece(piece));
    }
    return {};
  }
  for (std::uint32_t row = 0; row < page.rows(); ++row) {
    const std::uint64_t begin = page.value(row, kLogicalOffset);
    const std::uint64_t child_end =
        row + 1 < page.rows() ? page.value(row + 1, kLogicalOffset) : end;
    if (child_end <= begin || child_end > end)
      return Status(Code::kDamaged, file_.name(), page.value_offset(row, kLogicalOffset), "R-EX-1",
                    "found logical offsets that do not ascend");
    if (child_end <= from) continue;
    if (begin >= to) break;
    NMB_ASSIGN(std::shared_ptr<const Page> below, child(page, row));
    if (below->value(0, kLogicalOffset) != begin)
      return Status(Code::kDamaged, file_.name(), page.value_offset(row, kLogicalOffset), "R-EX-1",
                    joined_text("found logical offset ", begin,
                                ", expected the offset of the child's first row"));
    NMB_TRY(visit(*below, from, to, child_end, on_piece));
  }
  return {};
}

Status DataMap::for_each(std::uint64_t from, std::uint64_t to,
                         const std::function<Status(const Piece&)>& on_piece) const {
  NMB_ASSIGN(std::shared_ptr<const Page> page, root());
  if (page->value(0, kLogicalOffset) != 0)
    return Status(Code::kDamaged, file_.name(), page->value_offset(0, kLogicalOffset), "R-EX-1",
                  "found a first piece that does not begin at 0");
  return visit(*page, from, to, extent_length_, on_piece);
}

Result<std::vector<Piece>> DataMap::all() const {
  std::vector<Piece> pieces;
  NMB_TRY(for_each(0, extent_length_, [&](const Piece& piece) -> Status {
    pieces.push_back(piece);
    return {};
  }));
  return pieces;
}

namespace {

struct MapRow {
  std::uint64_t logical = 0;
  Place place;
  std::vector<UnknownValue> unknown{};  // used only if the row is copied from an old page
};

// A page of a committed map, its parent (none for the root), and the row of the parent that refers
// to the page.
struct OldPage {
  std::shared_ptr<const Page> page, parent;
  std::uint32_t row = 0;
};

// All pages of a map, the leaves in the order of their pieces.
struct OldPages {
  std::vector<OldPage> leaves, nodes;

  static Result<OldPages> of(const DataMap& map) {
    OldPages all;
    NMB_ASSIGN(std::shared_ptr<const Page> root, map.root());
    NMB_TRY(all.add(map, {std::move(root), nullptr}));
    return all;
  }

 private:
  Status add(const DataMap& map, OldPage old) {
    const std::shared_ptr<const Page> page = old.page;
    (page->level() == 0 ? leaves : nodes).push_back(std::move(old));
    if (page->level() == 0) return {};
    for (std::uint32_t row = 0; row < page->rows(); ++row) {
      NMB_ASSIGN(std::shared_ptr<const Page> below, map.child(*page, row));
      NMB_TRY(add(map, {std::move(below), page, row}));
    }
    return {};
  }
};

// Reports that a page of the map, and structures of later versions that belong to its row in the
// parent, are no longer used.
Status retire(const OldPage& old, const ByteSource& file, PageSink& sink) {
  NMB_TRY(check_may_change(*old.page, file));
  if (old.parent) drop_later_places(*old.parent, old.row, sink);
  sink.replaced(*old.page);
  return {};
}

bool same_rows(const Page& leaf, const std::vector<Piece>& pieces, std::size_t from,
               std::size_t to) {
  if (leaf.rows() != to - from) return false;
  for (std::size_t i = from; i < to; ++i)
    if (piece_at(leaf, static_cast<std::uint32_t>(i - from)) != pieces[i]) return false;
  return true;
}

// Holds the rows of old leaves that have columns unknown to this version. The values in these
// columns are copied to the new leaf if the new map has the same piece, and dropped otherwise.
class UnknownRows {
 public:
  void add(const std::shared_ptr<const Page>& leaf) {
    for (std::uint32_t row = 0; row < leaf->rows(); ++row)
      rows_.emplace(leaf->value(row, kLogicalOffset), Row{leaf, row});
  }
  void keep(const Piece& piece, PageBuilder& builder) {
    const auto found = rows_.find(piece.logical);
    if (found == rows_.end() || piece_at(*found->second.page, found->second.row) != piece) return;
    builder.keep(found->second.page->unknown_values(found->second.row));
    rows_.erase(found);
  }
  void drop_others(PageSink& sink) const {
    for (const auto& [logical, row] : rows_) drop_later_places(*row.page, row.row, sink);
  }

 private:
  struct Row {
    std::shared_ptr<const Page> page;
    std::uint32_t row;
  };
  std::map<std::uint64_t, Row> rows_;
};

void add_piece(PageBuilder& leaf, const Piece& piece) {
  leaf.add_row();
  leaf.set(kLogicalOffset, piece.logical);
  leaf.set(kState, piece.hole ? 1 : 0);
  leaf.set(kPosition, piece.position);
  leaf.set(kCodec, static_cast<std::uint64_t>(piece.codec));
  leaf.set(kStoredLength, piece.stored_length());
  leaf.set(kRawLength, piece.length);
  leaf.set(kSum, piece.sum);
  leaf.set(kFileNumber, piece.file);
}

MapRow map_row_at(const Page& node, std::uint32_t row) {
  return {node.value(row, kLogicalOffset),
          {node.value(row, kPosition), node.value(row, kStoredLength), node.value(row, kSum)},
          node.unknown_values(row)};
}

// Writes one level of nodes. rows: the rows that refer to the pages of the level below.
Result<std::vector<MapRow>> write_level(const std::vector<MapRow>& rows, std::uint16_t level,
                                        std::uint32_t map_rows, PageSink& sink,
                                        const Origin& origin, std::uint64_t owner) {
  std::vector<MapRow> above;
  PageBuilder node(PageUse::kDataMap, level);
  for (std::size_t i = 0; i < rows.size();) {
    node.clear();
    const std::uint64_t logical = rows[i].logical;
    for (; i < rows.size() && node.rows() < map_rows; ++i) {
      node.add_row();
      node.set(kLogicalOffset, rows[i].logical);
      node.set(kPosition, rows[i].place.position);
      node.set(kStoredLength, rows[i].place.length);
      node.set(kSum, rows[i].place.sum);
      node.keep(rows[i].unknown);
    }
    NMB_ASSIGN(Place place, write_page(sink, node, origin, owner));
    above.push_back({logical, place});
  }
  return above;
}

// Writes all levels of nodes, from `level` on. rows: the rows that refer to the pages of the level
// below, which cover the whole extent. Returns the place of the root.
Result<Place> write_nodes(std::vector<MapRow> rows, std::uint16_t level, std::uint32_t map_rows,
                          PageSink& sink, const Origin& origin, std::uint64_t owner) {
  for (; rows.size() > 1; ++level) {
    if (level > kMaxMapLevel)
      return Status(
          Code::kLimit,
          joined_text("found more pieces of an extent than a data map can have with ", kMaxMapLevel,
                      " levels of nodes and at most ", map_rows, " rows in each page"));
    NMB_ASSIGN(rows, write_level(rows, level, map_rows, sink, origin, owner));
  }
  return rows[0].place;
}

}  // namespace

Status retire_data_map(const DataMap& map, PageSink& sink) {
  NMB_ASSIGN(const OldPages old, OldPages::of(map));
  for (const OldPage& node : old.nodes) NMB_TRY(retire(node, map.file(), sink));
  for (const OldPage& leaf : old.leaves) {
    NMB_TRY(retire(leaf, map.file(), sink));
    if (!leaf.page->has_unknown()) continue;
    for (std::uint32_t row = 0; row < leaf.page->rows(); ++row)
      drop_later_places(*leaf.page, row, sink);
  }
  return {};
}

Result<Place> write_data_map(const std::vector<Piece>& pieces, const DataMap* old,
                             std::uint32_t map_rows, PageSink& sink, const Origin& origin,
                             std::uint64_t owner) {
  OldPages before;
  UnknownRows unknown;
  std::vector<bool> kept;  // for each leaf of the old map, whether it is kept
  if (old) {
    NMB_ASSIGN(before, OldPages::of(*old));
  }
  for (std::size_t k = 0; k < before.leaves.size(); ++k) {
    const OldPage& leaf = before.leaves[k];
    const std::size_t from = k * map_rows;
    kept.push_back(
        from < pieces.size() &&
        same_rows(*leaf.page, pieces, from, std::min<std::size_t>(from + map_rows, pieces.size())));
    if (kept.back()) continue;
    NMB_TRY(retire(leaf, old->file(), sink));
    if (leaf.page->has_unknown()) unknown.add(leaf.page);
  }
  for (const OldPage& node : before.nodes) {
    NMB_TRY(check_may_change(*node.page, old->file()));
    sink.replaced(*node.page);
    // All nodes are written again, so no row that refers to a node is kept.
    if (node.parent) drop_later_places(*node.parent, node.row, sink);
  }
  std::vector<MapRow> rows;
  PageBuilder builder(PageUse::kDataMap, 0);
  for (std::size_t from = 0; from < pieces.size(); from += map_rows) {
    const std::size_t to = std::min<std::size_t>(from + map_rows, pieces.size());
    const std::size_t k = from / map_rows;
    if (k < kept.size() && kept[k]) {
      const OldPage& leaf = before.leaves[k];
      MapRow& row = rows.emplace_back();
      row.logical = pieces[from].logical;
      row.place = {leaf.page->position(), leaf.page->bytes().size(), leaf.page->sum()};
      if (leaf.parent) row.unknown = leaf.parent->unknown_values(leaf.row);
      continue;
    }
    builder.clear();
    for (std::size_t i = from; i < to; ++i) {
      add_piece(builder, pieces[i]);
      unknown.keep(pieces[i], builder);
    }
    NMB_ASSIGN(Place place, write_page(sink, builder, origin, owner));
    rows.push_back({pieces[from].logical, place});
  }
  unknown.drop_others(sink);
  NMB_ASSIGN(const Place root, write_nodes(std::move(rows), 1, map_rows, sink, origin, owner));
  // If a kept leaf has become the root, no row refers to it any more.
  if (!before.leaves.empty() && kept[0] && pieces.size() <= map_rows && before.leaves[0].parent)
    drop_later_places(*before.leaves[0].parent, before.leaves[0].row, sink);
  return root;
}

std::uint64_t data_map_bound(const PieceForecast& pieces, std::uint64_t extent_length,
                             std::uint32_t piece_size, std::uint32_t map_rows,
                             std::uint64_t ahead) {
  const auto width = [](std::uint64_t largest) -> std::uint64_t {
    return (static_cast<std::uint64_t>(std::bit_width(largest)) + 7) / 8;
  };
  const auto pages = [&](std::uint64_t rows, std::uint64_t columns, std::uint64_t row_bytes) {
    const auto page = [&](std::uint64_t n) {
      return n == 0 ? 0 : round_up(kPageHeaderSize + 4 * columns + n * row_bytes, 8);
    };
    return rows / map_rows * page(map_rows) + page(rows % map_rows);
  };
  const std::uint64_t positions = pieces.linked ? 8 : width(ahead);
  const std::uint64_t offsets = width(extent_length), lengths = width(piece_size);
  std::uint64_t rows = pieces.count;
  std::uint64_t bytes = pages(rows, 5 + pieces.coded + pieces.holes + pieces.linked,
                              offsets + positions + 2 * lengths + 8 + pieces.coded + pieces.holes +
                                  (pieces.linked ? 4 : 0));
  while (rows > map_rows) {
    rows = (rows + map_rows - 1) / map_rows;
    bytes += pages(rows, 4, offsets + std::max(positions, width(ahead)) + 4 + 8);
  }
  return bytes;
}

Result<DataMapEdge> right_edge(const DataMap& map, std::uint64_t extent_length) {
  NMB_TRY(map.for_each(extent_length - 1, extent_length, [](const Piece&) { return Status(); }));
  DataMapEdge edge;
  NMB_ASSIGN(std::shared_ptr<const Page> page, map.root());
  for (;;) {
    NMB_TRY(check_may_change(*page, map.file()));
    edge.push_back(page);
    if (page->level() == 0) return edge;
    NMB_ASSIGN(page, map.child(*page, page->rows() - 1));
  }
}

Result<Place> append_to_data_map(const std::vector<Piece>& pieces, const DataMapEdge& edge,
                                 std::uint32_t map_rows, PageSink& sink, const Origin& origin,
                                 std::uint64_t owner) {
  // `rows` refer to the new pages of one level. If the edge's old page of this level has room for
  // more rows, the first new page replaces it.
  std::vector<MapRow> rows;
  const Page& leaf = *edge.back();
  bool replaces = leaf.rows() < map_rows;
  PageBuilder builder(PageUse::kDataMap, 0);
  if (replaces) {
    for (std::uint32_t row = 0; row < leaf.rows(); ++row) {
      add_piece(builder, piece_at(leaf, row));
      builder.keep(leaf.unknown_values(row));
    }
    sink.replaced(leaf);
  }
  std::uint64_t logical = replaces ? leaf.value(0, kLogicalOffset) : pieces[0].logical;
  for (std::size_t next = 0; next < pieces.size();) {
    for (; next < pieces.size() && builder.rows() < map_rows; ++next)
      add_piece(builder, pieces[next]);
    NMB_ASSIGN(const Place place, write_page(sink, builder, origin, owner));
    rows.push_back({logical, place});
    if (next < pieces.size()) logical = pieces[next].logical;
    builder.clear();
  }
  for (std::size_t i = edge.size() - 1; i-- > 0;) {
    const Page& node = *edge[i];
    const std::uint32_t last = node.rows() - 1;
    const bool has_room = replaces || node.rows() < map_rows;
    std::vector<MapRow> all;
    if (has_room) {
      for (std::uint32_t row = 0; row < node.rows() - (replaces ? 1 : 0); ++row)
        all.push_back(map_row_at(node, row));
      if (replaces) drop_later_places(node, last, sink);
      sink.replaced(node);
    }
    all.insert(all.end(), rows.begin(), rows.end());
    NMB_ASSIGN(rows, write_level(all, node.level(), map_rows, sink, origin, owner));
    replaces = has_room;
  }
  const Page& root = *edge.front();
  if (!replaces)
    rows.insert(rows.begin(), {root.value(0, kLogicalOffset),
                               {root.position(), root.bytes().size(), root.sum()}});
  return write_nodes(std::move(rows), static_cast<std::uint16_t>(root.level() + 1), map_rows, sink,
                     origin, owner);
}

}  // namespace nmb
