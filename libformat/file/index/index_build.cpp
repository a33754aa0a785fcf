#include "index/index_build.h"

#include <string>

#include "index/entry_codec.h"
#include "index/entry_message.h"

namespace nmb {

namespace {

// The parameter Tree of PageTreeBuild for the index.
class EntryTree {
 public:
  using Rows = IndexChanges;
  using Row = BlockEntry;
  using Child = ChildRow;
  using Total = IndexSummary;
  explicit EntryTree(IndexPageRows page_rows) : page_rows_(page_rows) {}

  static PageUse use() { return PageUse::kIndex; }
  std::uint32_t leaf_rows() const { return page_rows_.leaf; }
  std::uint32_t node_rows() const { return page_rows_.node; }
  Status check_level(std::uint16_t level) const {
    return check_index_level(level, page_rows_.leaf, page_rows_.node);
  }
  static Total total(const Child& child) { return child.holds; }
  Status begin(Communicator& ranks, const Rows& entries, std::size_t leading) {
    last_ = entries.count() == 0 ? "" : "=" + std::string(entries.name(entries.count() - 1));
    NMB_ASSIGN(last_, ranks.scan_before(last_, std::string(),
                                        [](const std::string& a, const std::string& b) {
                                          return b.empty() ? a : b;
                                        }));
    if (leading > 0) last_ = "=" + std::string(entries.name(leading - 1));
    return {};
  }
  static Row row(const Rows& entries, std::size_t i) { return *entries.entry(i); }
  void add(PageBuilder& leaf, const Row& entry, Child* child) const {
    if (leaf.rows() == 0)
      child->separator =
          last_.empty() ? "" : separator_between(std::string_view(last_).substr(1), entry.name);
    add_entry(leaf, entry);
    child->holds += index_summary_of(entry);
  }
  void end_leaf(const PageBuilder& leaf) { last_ = "=" + std::string(leaf.last_name()); }
  std::size_t fill_node(PageBuilder& node, std::span<const Child> children, Child* parent) const {
    parent->separator = children[0].separator;
    return nmb::fill_node(node, children, page_rows_.node, &parent->holds);
  }

 private:
  const IndexPageRows page_rows_;
  // "=" followed by the last name before the leaf; empty for the first leaf.
  std::string last_;
};

}  // namespace

Result<BuiltIndex> build_index(Communicator& ranks, const IndexChanges& entries, IndexPageRows rows,
                               std::uint64_t position, const WritePages& write,
                               const Origin& origin, std::uint64_t few_pages) {
  EntryTree tree(rows);
  NMB_ASSIGN(
      const auto built,
      PageTreeBuild<EntryTree>(tree, ranks, position, write, origin, few_pages).run(entries));
  return BuiltIndex{{built.position, built.length, built.height, built.digest, built.total.totals,
                     built.total.needs},
                    built.end};
}

}  // namespace nmb
