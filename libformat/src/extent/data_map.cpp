// Data maps: reading and writing (spec/format.md, section 10.1).
#include "extent/data_map.h"

#include <algorithm>

#include "block/body_codec.h"
#include "extent/piece_codec.h"

namespace nmb {

Piece piece_at(const Page& leaf, std::uint32_t row) {
  const auto codec = static_cast<PieceCodec>(leaf.value(row, kCodec));
  return {.logical = leaf.value(row, kLogicalOffset),
          .length = leaf.value(row, kRawLength),
          .hole = leaf.value(row, kState) == 1,
          .position = leaf.value(row, kPosition),
          .sum = leaf.value(row, kSum),
          .codec = codec,
          .coded_length = codec == PieceCodec::kNone ? 0 : leaf.value(row, kStoredLength),
          // Of one that is larger R-EX-8 is broken.
          .file = static_cast<std::uint32_t>(
              std::min<std::uint64_t>(leaf.value(row, kFileNumber), ~std::uint32_t{0}))};
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
    if (state > 1) report("R-EX-3", kState, "state " + std::to_string(state), "0 or 1");
    if (piece.length == 0) report("R-EX-3", kRawLength, "raw length 0", "at least 1");
    if (piece.logical != *next)
      report("R-EX-1", kLogicalOffset, "logical offset " + std::to_string(piece.logical),
             std::to_string(*next));
    if (piece.logical > end || piece.length > end - piece.logical) {
      report("R-EX-1", kRawLength, "a piece that ends behind the extent",
             "an end of at most " + std::to_string(end));
      *next = end;
      return;
    }
    *next = piece.end();
    auto expect = [&](const char* rule, Column column, std::uint64_t expected, const char* what) {
      if (const std::uint64_t found = leaf.value(row, column); found != expected)
        report(rule, column, what + std::to_string(found), std::to_string(expected));
    };
    if (piece.hole) {
      expect("R-EX-3", kCodec, 0, "a hole with codec ");
      expect("R-EX-3", kPosition, 0, "a hole with position ");
      expect("R-EX-3", kStoredLength, 0, "a hole with stored length ");
      expect("R-EX-3", kSum, 0, "a hole with sum ");
      expect("R-EX-3", kFileNumber, 0, "a hole with file number ");
    } else {
      const std::uint64_t file = leaf.value(row, kFileNumber);
      if (files && file > files->rows()) {
        report("R-EX-8", kFileNumber, "file number " + std::to_string(file),
               "at most " + std::to_string(files->rows()));
      } else if (files && file != 0) {
        const std::uint64_t size = files->size(static_cast<std::uint32_t>(file) - 1);
        if (piece.position > size || leaf.value(row, kStoredLength) > size - piece.position)
          report("R-FT-3", kPosition,
                 "a piece of " + std::to_string(leaf.value(row, kStoredLength)) + " bytes at " +
                     std::to_string(piece.position),
                 "one within the " + std::to_string(size) + " bytes of its file");
      }
      const std::uint64_t codec = leaf.value(row, kCodec), stored = leaf.value(row, kStoredLength);
      if (!is_piece_codec(codec))
        report("R-EX-4", kCodec, "codec " + std::to_string(codec), "0, 1 or 3");
      else if (codec == 0)
        expect("R-EX-4", kStoredLength, piece.length, "stored length ");
      else if (!is_piece_length(stored, piece.length))
        report("R-EX-4", kStoredLength, "stored length " + std::to_string(stored) + " of a codec",
               "less than raw length " + std::to_string(piece.length) + ", at least 1/" +
                   std::to_string(kMaxExpansion) + " of it");
      if (piece.length != 0 && piece.logical / piece_size != (piece.end() - 1) / piece_size)
        report("R-EX-2", kRawLength, "a piece across a multiple of the piece size",
               "pieces within one");
    }
  }
}

Result<std::shared_ptr<const Page>> DataMap::load(Place place, int level) const {
  PageExpectation expect;
  expect.use = PageUse::kDataMap;
  expect.any_level = level < 0;
  expect.level = static_cast<std::uint16_t>(std::max(level, 0));
  expect.newest = newest_;
  expect.position = place.position;
  if (place.length > ~std::uint32_t{0})
    return Status(Code::kDamaged, file_.name(), place.position, "R-PG-3",
                  "found a data map page of " + std::to_string(place.length) +
                      " bytes, expected less than 2^32");
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

Status DataMap::check_leaf(const Page& leaf, std::uint64_t end) const {
  FirstFinding first;
  std::uint64_t next = leaf.value(0, kLogicalOffset);
  std::shared_ptr<const FileTable> files;
  if (leaf.has(kFileNumber)) {
    NMB_ASSIGN(files, external_.table());
  }
  check_data_map_leaf(leaf, &next, end, piece_size_, files.get(), first);
  if (!first.found() && next != end)
    first.report({"R-EX-1", leaf.position(), "data map",
                  "pieces that end at " + std::to_string(next), std::to_string(end)});
  NMB_TRY(first.status(file_.name()));
  checked_leaf_ = leaf.position();
  return {};
}

Status DataMap::visit(const Page& page, std::uint64_t from, std::uint64_t to, std::uint64_t end,
                      const std::function<Status(const Piece&)>& on_piece) const {
  if (page.level() == 0) {
    if (page.position() != checked_leaf_) NMB_TRY(check_leaf(page, end));
    // The last one that begins at `from` or before, among pieces that lie one behind the other.
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
      return Status(
          Code::kDamaged, file_.name(), page.value_offset(row, kLogicalOffset), "R-EX-1",
          "found logical offset " + std::to_string(begin) + ", expected that of the child");
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
  std::uint64_t logical;
  Place place;
};

// The pages below `page`, in order.
Status collect_old(const DataMap& map, const Page& page,
                   std::vector<std::shared_ptr<const Page>>* leaves,
                   std::vector<std::shared_ptr<const Page>>* nodes) {
  for (std::uint32_t row = 0; row < page.rows(); ++row) {
    NMB_ASSIGN(std::shared_ptr<const Page> below, map.child(page, row));
    if (below->level() == 0) {
      leaves->push_back(below);
    } else {
      nodes->push_back(below);
      NMB_TRY(collect_old(map, *below, leaves, nodes));
    }
  }
  return {};
}

Status collect_pages(const DataMap& map, std::vector<std::shared_ptr<const Page>>* leaves,
                     std::vector<std::shared_ptr<const Page>>* nodes) {
  NMB_ASSIGN(std::shared_ptr<const Page> root, map.root());
  (root->level() == 0 ? leaves : nodes)->push_back(root);
  return root->level() == 0 ? Status() : collect_old(map, *root, leaves, nodes);
}

bool same_rows(const Page& leaf, const std::vector<Piece>& pieces, std::size_t from,
               std::size_t to) {
  if (leaf.rows() != to - from) return false;
  for (std::size_t i = from; i < to; ++i)
    if (piece_at(leaf, static_cast<std::uint32_t>(i - from)) != pieces[i]) return false;
  return true;
}

}  // namespace

Status retire_data_map(const DataMap& map, PageSink& sink) {
  std::vector<std::shared_ptr<const Page>> leaves, nodes;
  NMB_TRY(collect_pages(map, &leaves, &nodes));
  for (const auto& page : nodes) sink.replaced(*page);
  for (const auto& page : leaves) sink.replaced(*page);
  return {};
}

Result<Place> write_data_map(const std::vector<Piece>& pieces, const DataMap* old, PageSink& sink,
                             const Origin& origin, std::uint64_t owner) {
  std::vector<std::shared_ptr<const Page>> old_leaves, old_nodes;
  if (old) NMB_TRY(collect_pages(*old, &old_leaves, &old_nodes));
  std::vector<MapRow> rows;
  PageBuilder builder(PageUse::kDataMap, 0);
  for (std::size_t from = 0; from < pieces.size(); from += kNodeRows) {
    const std::size_t to = std::min<std::size_t>(from + kNodeRows, pieces.size());
    const std::size_t k = from / kNodeRows;
    if (k < old_leaves.size() && same_rows(*old_leaves[k], pieces, from, to)) {
      const Page& kept = *old_leaves[k];
      rows.push_back({pieces[from].logical, {kept.position(), kept.bytes().size(), kept.sum()}});
      old_leaves[k].reset();
      continue;
    }
    builder.clear();
    for (std::size_t i = from; i < to; ++i) {
      builder.add_row();
      builder.set(kLogicalOffset, pieces[i].logical);
      builder.set(kState, pieces[i].hole ? 1 : 0);
      builder.set(kPosition, pieces[i].position);
      builder.set(kCodec, static_cast<std::uint64_t>(pieces[i].codec));
      builder.set(kStoredLength, pieces[i].stored_length());
      builder.set(kRawLength, pieces[i].length);
      builder.set(kSum, pieces[i].sum);
      builder.set(kFileNumber, pieces[i].file);
    }
    NMB_ASSIGN(Place place, write_page(sink, builder, origin, owner));
    rows.push_back({pieces[from].logical, place});
  }
  for (std::uint16_t level = 1; rows.size() > 1; ++level) {
    std::vector<MapRow> above;
    PageBuilder node(PageUse::kDataMap, level);
    for (std::size_t i = 0; i < rows.size();) {
      node.clear();
      const std::uint64_t logical = rows[i].logical;
      for (; i < rows.size() && node.rows() < kNodeRows; ++i) {
        node.add_row();
        node.set(kLogicalOffset, rows[i].logical);
        node.set(kPosition, rows[i].place.position);
        node.set(kStoredLength, rows[i].place.length);
        node.set(kSum, rows[i].place.sum);
      }
      NMB_ASSIGN(Place place, write_page(sink, node, origin, owner));
      above.push_back({logical, place});
    }
    rows = std::move(above);
  }
  for (const auto& page : old_nodes) sink.replaced(*page);
  for (const auto& page : old_leaves)
    if (page) sink.replaced(*page);
  return rows[0].place;
}

}  // namespace nmb
