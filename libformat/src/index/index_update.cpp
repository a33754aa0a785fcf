// Writing the index by copying the pages that change (spec/format.md, section 7).
#include "index/index_update.h"

#include <vector>

#include "index/entry_codec.h"
#include "wire/hash.h"

namespace nmb {

namespace {

class Update {
 public:
  Update(const IndexTree& old, const IndexChanges& changes, PageSink& sink, const Origin& origin)
      : old_(old), changes_(changes), sink_(sink), origin_(origin) {}

  Result<IndexRoot> run() {
    NMB_ASSIGN(std::shared_ptr<const Page> old_root, old_.root());
    std::uint16_t level = old_root->level();  // of the pages in rows
    NMB_ASSIGN(std::vector<ChildRow> rows, update_page(*old_root, 0, changes_.count(), ""));
    if (rows.empty()) return IndexRoot{};
    while (rows.size() > 1) {
      ++level;
      NMB_ASSIGN(rows, write_nodes(level, rows));
    }
    NMB_ASSIGN(std::vector<std::byte> bytes, page_bytes(rows[0], level));
    // A root with a single child gives way to it.
    while (level > 0) {
      PageExpectation expect = expectation(rows[0], level);
      FirstFinding first;
      std::optional<Page> page = Page::decode(bytes, expect, first);
      if (!page) return first.status(old_.file().name());
      if (page->rows() != 1) break;
      sink_.replaced(*page);
      drop_later_places(*page, 0, sink_);
      ChildRow child = child_at(*page, 0);
      child.separator.clear();
      rows[0] = child;
      --level;
      NMB_ASSIGN(bytes, page_bytes(rows[0], level));
    }
    IndexRoot root;
    root.position = rows[0].position;
    root.length = rows[0].length;
    root.height = level + 1u;
    root.digest = digest_of(bytes);
    root.totals = rows[0].holds.totals;
    root.needs = rows[0].holds.needs;
    return root;
  }

 private:
  PageExpectation expectation(const ChildRow& row, std::uint16_t level) const {
    PageExpectation expect = old_.superblock().expectation(PageUse::kIndex, level);
    expect.newest = origin_;
    expect.position = row.position;
    expect.length = row.length;
    expect.sum = row.sum;
    return expect;
  }

  // The bytes of the page that this update wrote last in its level, or of a committed one. An only
  // page of a level is one of them.
  Result<std::vector<std::byte>> page_bytes(const ChildRow& row, std::uint16_t level) {
    if (level < last_.size() && row.position == last_[level].position)
      return std::move(last_[level].bytes);
    NMB_ASSIGN(std::shared_ptr<const Page> page, read_page(old_.file(), expectation(row, level)));
    return std::vector<std::byte>(page->bytes().begin(), page->bytes().end());
  }

  Status write(const PageBuilder& builder, std::uint16_t level, const Holdings& holds,
               std::string separator, std::vector<ChildRow>* rows) {
    if (level >= last_.size()) last_.resize(level + 1u);
    NMB_ASSIGN(Place place, write_page(sink_, builder, origin_, 0, &last_[level].bytes));
    last_[level].position = place.position;
    rows->push_back({std::move(separator), place.position, static_cast<std::uint32_t>(place.length),
                     place.sum, holds});
    return {};
  }

  // The leaves that take the place of `leaf` under changes [from, to).
  Result<std::vector<ChildRow>> merge_leaf(const Page& leaf, std::size_t from, std::size_t to,
                                           std::string_view separator) {
    std::vector<ChildRow> rows;
    PageBuilder builder(PageUse::kIndex, 0);
    Holdings holds;
    std::string next_separator(separator), last_name;
    auto flush = [&]() -> Status {
      NMB_TRY(write(builder, 0, holds, std::move(next_separator), &rows));
      last_name = builder.last_name();
      builder.clear();
      holds = {};
      return {};
    };
    auto emit = [&](const BlockEntry& entry) -> Status {
      if (builder.rows() == old_.superblock().leaf_rows) {
        NMB_TRY(flush());
        next_separator = separator_between(last_name, entry.name);
      }
      add_entry(builder, entry);
      holds += holdings_of(entry);
      return {};
    };
    auto copy = [&](std::uint32_t row) -> Status {
      NMB_TRY(emit(entry_at(leaf, row)));
      if (leaf.has_unknown()) builder.keep(leaf.unknown_values(row));
      return {};
    };
    std::uint32_t row = 0;
    const std::uint32_t old_rows = leaf.rows();
    for (std::size_t i = from; i < to; ++i) {
      const std::string_view name = changes_.name(i);
      for (; row < old_rows && leaf.name(row) < name; ++row) NMB_TRY(copy(row));
      if (row < old_rows && leaf.name(row) == name) drop_later_places(leaf, row++, sink_);
      if (std::optional<BlockEntry> entry = changes_.entry(i)) NMB_TRY(emit(*entry));
    }
    for (; row < old_rows; ++row) NMB_TRY(copy(row));
    if (builder.rows() > 0) NMB_TRY(flush());
    sink_.replaced(leaf);
    return rows;
  }

  Result<std::vector<ChildRow>> write_nodes(std::uint16_t level, std::vector<ChildRow>& children) {
    const Superblock& superblock = old_.superblock();
    NMB_TRY(check_index_level(level, superblock.leaf_rows, superblock.node_rows));
    std::vector<ChildRow> rows;
    PageBuilder builder(PageUse::kIndex, level);
    for (std::size_t i = 0; i < children.size();) {
      builder.clear();
      Holdings holds;
      std::string separator = children[i].separator;
      i += fill_node(builder, std::span(children).subspan(i), superblock.node_rows, &holds);
      NMB_TRY(write(builder, level, holds, std::move(separator), &rows));
    }
    return rows;
  }

  // The pages of the same level that take the place of `page` under changes [from, to), which is
  // not empty.
  Result<std::vector<ChildRow>> update_page(const Page& page, std::size_t from, std::size_t to,
                                            std::string_view separator) {
    if (from == to) {
      return std::vector<ChildRow>{{std::string(separator), page.position(),
                                    static_cast<std::uint32_t>(page.bytes().size()), page.sum(),
                                    holdings_of(page)}};
    }
    NMB_TRY(check_may_change(page, old_.file()));
    if (page.level() == 0) return merge_leaf(page, from, to, separator);
    std::vector<ChildRow> children;
    std::size_t i = from;
    for (std::uint32_t row = 0; row < page.rows(); ++row) {
      std::size_t end = i;
      while (end < to && (row + 1 == page.rows() || changes_.name(end) < page.name(row + 1))) ++end;
      if (end == i) {
        children.push_back(child_at(page, row));
        continue;
      }
      drop_later_places(page, row, sink_);
      NMB_ASSIGN(std::shared_ptr<const Page> below, old_.child(page, row));
      NMB_ASSIGN(std::vector<ChildRow> replacements, update_page(*below, i, end, page.name(row)));
      for (ChildRow& child : replacements) children.push_back(std::move(child));
      i = end;
    }
    sink_.replaced(page);
    if (children.empty()) return children;
    children[0].separator = separator;
    return write_nodes(page.level(), children);
  }

  const IndexTree& old_;
  const IndexChanges& changes_;
  PageSink& sink_;
  Origin origin_;
  struct Written {
    std::uint64_t position = 0;
    std::vector<std::byte> bytes;
  };
  std::vector<Written> last_;  // of each level
};

}  // namespace

Result<IndexRoot> update_index(const IndexTree& old, const IndexChanges& changes, PageSink& sink,
                               const Origin& origin) {
  return Update(old, changes, sink, origin).run();
}

}  // namespace nmb
