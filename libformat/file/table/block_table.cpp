#include "table/block_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "page/far_scan.h"
#include "wire/hash.h"

namespace nmb {

BlockTable::BlockTable(const ByteSource& file, const Superblock& superblock, PageUse use,
                       const FarSource* far)
    : file_(file),
      far_(far),
      place_(table_place(superblock, use)),
      expectation_(superblock.expectation(use)),
      next_order_(superblock.next_order) {}

// Loads a page, and checks the rows if it is a leaf.
Result<std::shared_ptr<const Page>> BlockTable::load(const PageExpectation& expect) const {
  NMB_ASSIGN(std::shared_ptr<const Page> page, cache_.read(file_, expect));
  if (page->level() > 0) return page;
  FirstFinding first;
  check_table_leaf(*page, next_order_, nullptr, first);
  NMB_TRY(first.status(file_.name()));
  return page;
}

Result<std::shared_ptr<const Page>> BlockTable::root_at(const Place& place, bool newest) const {
  PageExpectation expect = expectation_;
  expect.any_level = true;
  expect.position = place.position;
  expect.length =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(place.length, ~std::uint32_t{0}));
  // For the newest tree, place.sum covers all bytes of the root, not only those that the page's
  // `sum` field covers. It is checked below.
  if (!newest) expect.sum = place.sum;
  NMB_ASSIGN(std::shared_ptr<const Page> page, load(expect));
  if (!newest) return page;
  if (const std::uint64_t sum = sum_of(page->bytes()); sum != place.sum)
    return Status(Code::kDamaged, file_.name(), place.position, "R-SB-9",
                  "found a page with " + sum_text(sum) + ", expected " + sum_text(place.sum));
  return page;
}

Result<std::shared_ptr<const Page>> BlockTable::child(const Page& node, std::uint32_t row) const {
  PageExpectation expect = expectation_;
  expect.level = static_cast<std::uint16_t>(node.level() - 1);
  expect.position = node.value(row, kPosition);
  expect.length = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(node.value(row, kStoredLength), ~std::uint32_t{0}));
  expect.sum = node.value(row, kSum);
  return load(expect);
}

Result<std::vector<BlockTable::Tree>> BlockTable::read_trees() const {
  std::vector<Tree> trees;
  if (absent()) return trees;
  if (far_) {
    const ByteRange root{place_.position, place_.position + place_.length};
    NMB_TRY(far_->fetch({&root, 1}));
  }
  for (std::optional<Place> place = place_; place;) {
    if (trees.size() == kMostTrees)
      return Status(Code::kDamaged, file_.name(), place->position, "R-TB-4",
                    "found more than 64 trees");
    Tree& tree = trees.emplace_back();
    NMB_ASSIGN(tree.root, root_at(*place, trees.size() == 1));
    tree.place = *place;
    tree.rows = table_rows(*tree.root);
    std::shared_ptr<const Page> leaf = tree.root;
    while (leaf->level() > 0) {
      NMB_ASSIGN(leaf, child(*leaf, 0));
    }
    tree.before = tree_before(*leaf);
    if (tree.before && tree.before->position >= place->position)
      return Status(Code::kDamaged, file_.name(), leaf->value_offset(0, kPosition), "R-PG-18",
                    "found the previous tree at the same position or at a higher position");
    place = tree.before;
  }
  return trees;
}

Status BlockTable::read_orders(std::vector<Tree>* trees) const {
  for (Tree& tree : *trees) {
    if (!tree.before) break;
    NMB_TRY(for_each_page(tree, 0, 1, [&](const Page& page) -> Status {
      if (page.level() > 0) return {};
      for (std::uint32_t row = 0; row < page.rows(); ++row)
        if (const TableRow value = table_row_at(page, row); value.state != TableRow::State::kBefore)
          tree.orders.push_back(value.order);
      return {};
    }));
    std::ranges::sort(tree.orders);
    tree.orders.erase(std::unique(tree.orders.begin(), tree.orders.end()), tree.orders.end());
  }
  return {};
}

Result<std::shared_ptr<const std::vector<BlockTable::Tree>>> BlockTable::ordered_trees() const {
  std::lock_guard lock(mutex_);
  if (!trees_) {
    NMB_ASSIGN(std::vector<Tree> trees, read_trees());
    NMB_TRY(read_orders(&trees));
    trees_ = std::make_shared<const std::vector<Tree>>(std::move(trees));
  }
  return trees_;
}

Result<std::optional<FoundRow>> BlockTable::find(std::string_view name, std::uint64_t order) const {
  NMB_ASSIGN(const auto all, ordered_trees());
  for (const Tree& tree : *all) {
    std::shared_ptr<const Page> page = tree.root;
    while (page->level() > 0) {
      NMB_ASSIGN(page, child(*page, table_child_row(*page, name, order)));
    }
    const std::uint32_t row = table_lower_bound(*page, name, order);
    if (row < page->rows()) {
      const TableRow found = table_row_at(*page, row);
      if (found.state == TableRow::State::kRow && found.name == name && found.order == order)
        return std::optional<FoundRow>({std::move(page), row});
    }
    if (std::ranges::binary_search(tree.orders, order)) break;
  }
  return std::optional<FoundRow>();
}

Status BlockTable::visit_leaves(
    const std::shared_ptr<const Page>& page, std::optional<std::string_view> name,
    const std::function<Result<bool>(const std::shared_ptr<const Page>&)>& visit,
    bool* go_on) const {
  if (page->level() == 0) {
    NMB_ASSIGN(*go_on, visit(page));
    return {};
  }
  if (far_)
    return scan_far(
        *far_, page,
        [&](const Page& node) {
          std::uint32_t end = node.rows();
          while (name && end > 0 && node.shared_name(end - 1) > *name) --end;
          return std::pair(name ? table_child_row(node, *name, 0) : 0, end);
        },
        [&](const Page& node, std::uint32_t row) { return child(node, row); },
        [&](const std::shared_ptr<const Page>& leaf) -> Result<bool> {
          NMB_ASSIGN(*go_on, visit(leaf));
          return *go_on;
        });
  for (std::uint32_t row = name ? table_child_row(*page, *name, 0) : 0;
       *go_on && row < page->rows() && !(name && page->shared_name(row) > *name); ++row) {
    NMB_ASSIGN(const std::shared_ptr<const Page> below, child(*page, row));
    NMB_TRY(visit_leaves(below, name, visit, go_on));
  }
  return {};
}

Status BlockTable::for_each(std::optional<std::string_view> name, const Visit& visit) const {
  NMB_ASSIGN(const auto all, ordered_trees());
  bool go_on = true;
  for (std::size_t i = 0; i < all->size() && go_on; ++i) {
    const auto in_leaf = [&](const std::shared_ptr<const Page>& leaf) -> Result<bool> {
      for (std::uint32_t row = name ? table_lower_bound(*leaf, *name, 0) : 0; row < leaf->rows();
           ++row) {
        const TableRow value = table_row_at(*leaf, row);
        if (name && value.name != *name) break;
        const auto has_order = [&](const Tree& tree) {
          return std::ranges::binary_search(tree.orders, value.order);
        };
        if (value.state != TableRow::State::kRow ||
            std::any_of(all->begin(), all->begin() + static_cast<std::ptrdiff_t>(i), has_order))
          continue;
        NMB_ASSIGN(const bool more, visit({leaf, row}));
        if (!more) return false;
      }
      return true;
    };
    NMB_TRY(visit_leaves((*all)[i].root, name, in_leaf, &go_on));
  }
  return {};
}

Result<std::optional<FoundRow>> BlockTable::first_from(const Tree& tree,
                                                       std::string_view name) const {
  // The first row that is not less than (name, 0) may be the first row of the next leaf. That leaf
  // may be below the next child of any node on the way.
  std::vector<std::pair<std::shared_ptr<const Page>, std::uint32_t>> way;
  std::shared_ptr<const Page> page = tree.root;
  while (page->level() > 0) {
    const std::uint32_t row = table_child_row(*page, name, 0);
    way.emplace_back(page, row + 1);
    NMB_ASSIGN(page, child(*page, row));
  }
  std::uint32_t row = table_lower_bound(*page, name, 0);
  if (row < page->rows()) return std::optional<FoundRow>({std::move(page), row});
  while (!way.empty() && way.back().second == way.back().first->rows()) way.pop_back();
  if (way.empty()) return std::optional<FoundRow>();
  NMB_ASSIGN(page, child(*way.back().first, way.back().second));
  while (page->level() > 0) {
    NMB_ASSIGN(page, child(*page, 0));
  }
  row = table_lower_bound(*page, name, 0);
  if (row == page->rows()) return std::optional<FoundRow>();
  return std::optional<FoundRow>({std::move(page), row});
}

Result<std::shared_ptr<const std::vector<std::string>>> BlockTable::names_below(
    std::string_view name) const {
  constexpr std::size_t kMostRemembered = 4096;
  {
    std::lock_guard lock(mutex_);
    if (const auto known = names_below_.find(name); known != names_below_.end())
      return known->second;
  }
  NMB_ASSIGN(const auto all, ordered_trees());
  const std::string prefix = std::string(name) + '\0';
  std::set<std::string> names;
  for (const Tree& tree : *all)
    for (std::string from = prefix;;) {
      NMB_ASSIGN(const std::optional<FoundRow> found, first_from(tree, from));
      if (!found) break;
      const std::string_view next = found->value().name;
      if (!next.starts_with(prefix)) break;
      names.emplace(next);
      from = std::string(next) + '\0';  // the first name that is greater
    }
  auto out = std::make_shared<const std::vector<std::string>>(names.begin(), names.end());
  std::lock_guard lock(mutex_);
  if (names_below_.size() >= kMostRemembered) names_below_.clear();
  names_below_.insert_or_assign(std::string(name), out);
  return std::shared_ptr<const std::vector<std::string>>(std::move(out));
}

Status BlockTable::for_each_of(std::string_view name, std::uint64_t order,
                               const Visit& visit) const {
  if (name.find('\0') != name.npos) return {};  // such a name has no rows
  NMB_ASSIGN(const auto below, names_below(name));
  const auto visit_row = [&](std::string_view row_name) -> Result<bool> {
    NMB_ASSIGN(const std::optional<FoundRow> found, find(row_name, order));
    return found ? visit(*found) : Result(true);
  };
  NMB_ASSIGN(bool go_on, visit_row(name));
  for (std::size_t i = 0; go_on && i < below->size(); ++i) {
    NMB_ASSIGN(go_on, visit_row((*below)[i]));
  }
  return {};
}

Status BlockTable::for_each_page(const Tree& tree, unsigned part, unsigned parts,
                                 const std::function<Status(const Page&)>& visit) const {
  std::uint64_t leaf = 0;
  const auto below = [&](const auto& self, const Page& page) -> Status {
    if (page.level() == 0 || part == 0) NMB_TRY(visit(page));
    if (page.level() == 0) return {};
    for (std::uint32_t row = 0; row < page.rows(); ++row) {
      if (page.level() == 1 && leaf++ % parts != part) continue;
      NMB_ASSIGN(const std::shared_ptr<const Page> next, child(page, row));
      NMB_TRY(self(self, *next));
    }
    return {};
  };
  return tree.root->level() == 0 && part != 0 ? Status() : below(below, *tree.root);
}

}  // namespace nmb
