#include "index/index_tree.h"

#include <algorithm>
#include <utility>

#include "index/entry_codec.h"
#include "page/far_scan.h"
#include "wire/hash.h"

namespace nmb {

NameRange prefix_range(std::string_view prefix) {
  NameRange range{std::string(prefix), std::nullopt};
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (!end.empty()) {
    end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
    range.end = end;
  }
  return range;
}

std::uint32_t lower_bound_row(const Page& leaf, std::string_view name) {
  std::uint32_t low = 0, high = leaf.rows();
  while (low < high) {
    std::uint32_t middle = (low + high) / 2;
    if (leaf.name(middle) < name)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

std::uint32_t child_row_for(const Page& node, std::string_view name) {
  std::uint32_t low = 0, high = node.rows();
  while (high - low > 1) {
    std::uint32_t middle = (low + high) / 2;
    if (node.name(middle) <= name)
      low = middle;
    else
      high = middle;
  }
  return low;
}

IndexTree::IndexTree(const ByteSource& file, const Superblock& superblock, const FarSource* far)
    : file_(file), far_(far), superblock_(superblock), growth_(file, superblock_) {}

Result<std::shared_ptr<const Page>> IndexTree::root() const {
  // The root is the last page of the index's run, directly after the nodes. From slow storage, the
  // whole run is fetched if this takes no longer than one request. Otherwise only its end is
  // fetched. This part contains all nodes: a node has rows for 64 to 128 pages, and is about as
  // long as one of them.
  constexpr std::uint64_t kTail = 48 << 10;
  const std::uint64_t begin = superblock_.index_position,
                      end = superblock_.root_position + superblock_.root_length;
  if (far_ && begin != 0 && end > begin) {
    const std::uint64_t length = end - begin;
    const std::uint64_t fetched =
        length <= far_->request_bytes() ? length : std::min(length, kTail + length / 64);
    NMB_TRY(far_->fetch_if_missing({end - fetched, end}, {superblock_.root_position, end}));
  }
  PageExpectation expect =
      superblock_.expectation(PageUse::kIndex, static_cast<std::uint16_t>(superblock_.height - 1));
  expect.position = superblock_.root_position;
  expect.length = superblock_.root_length;
  NMB_ASSIGN(std::shared_ptr<const Page> page, cache_->read(file_, expect));
  if (digest_of(page->bytes()) != superblock_.root_digest)
    return Status(Code::kDamaged, file_.name(), superblock_.root_position, "R-SB-20",
                  "the root page's digest differs from the digest in the superblock");
  return page;
}

Result<std::shared_ptr<const Page>> IndexTree::child(const Page& node, std::uint32_t row) const {
  return cache_->read(file_, expected_child(superblock_, node, row));
}

Result<std::optional<IndexTree::FoundEntry>> IndexTree::find_row(std::string_view name) const {
  if (superblock_.height == 0) return std::optional<FoundEntry>();
  NMB_ASSIGN(std::shared_ptr<const Page> page, root());
  while (page->level() > 0) {
    NMB_ASSIGN(page, child(*page, child_row_for(*page, name)));
  }
  std::uint32_t row = lower_bound_row(*page, name);
  if (row == page->rows() || page->name(row) != name) return std::optional<FoundEntry>();
  return std::optional<FoundEntry>({std::move(page), row});
}

Result<std::optional<BlockEntry>> IndexTree::find(std::string_view name) const {
  NMB_ASSIGN(const std::optional<FoundEntry> found, find_row(name));
  if (!found) return std::optional<BlockEntry>();
  BlockEntry entry = entry_at(*found->leaf, found->row);
  NMB_TRY(growth_.add_to(&entry));
  return std::optional<BlockEntry>(std::move(entry));
}

Result<std::optional<BlockEntry>> IndexTree::at(std::uint64_t position) const {
  if (superblock_.height == 0 || position >= superblock_.totals.blocks)
    return std::optional<BlockEntry>();
  NMB_ASSIGN(std::shared_ptr<const Page> page, root());
  while (page->level() > 0) {
    std::uint32_t row = 0;
    for (; row < page->rows(); ++row) {
      const std::uint64_t blocks = page->value(row, kBlocks);
      if (position < blocks) break;
      position -= blocks;
    }
    if (row == page->rows()) return std::optional<BlockEntry>();
    NMB_ASSIGN(page, child(*page, row));
  }
  if (position >= page->rows()) return std::optional<BlockEntry>();
  BlockEntry entry = entry_at(*page, static_cast<std::uint32_t>(position));
  NMB_TRY(growth_.add_to(&entry));
  return std::optional<BlockEntry>(std::move(entry));
}

Result<std::optional<CountedObject>> IndexTree::counted(std::uint64_t BlockCounts::*count,
                                                        std::uint64_t number) const {
  if (superblock_.height == 0 || number >= superblock_.totals.*count)
    return std::optional<CountedObject>();
  NMB_ASSIGN(std::shared_ptr<const Page> page, root());
  while (true) {
    std::uint32_t row = 0;
    for (; row < page->rows(); ++row) {
      const std::uint64_t objects = index_summary_at(*page, row).totals.*count;
      if (number < objects) break;
      number -= objects;
    }
    if (row == page->rows()) return std::optional<CountedObject>();
    if (page->level() == 0) {
      CountedObject found{entry_at(*page, row), number};
      NMB_TRY(growth_.add_to(&found.entry));
      return std::optional<CountedObject>(std::move(found));
    }
    NMB_ASSIGN(page, child(*page, row));
  }
}

Result<bool> IndexTree::contains(std::string_view name) const {
  NMB_ASSIGN(const std::optional<FoundEntry> found, find_row(name));
  return found.has_value();
}

Result<std::uint64_t> IndexTree::rank_of(std::string_view name) const {
  NMB_ASSIGN(Totals totals, stored_totals_in({std::string(), std::string(name)}));
  return totals.blocks;
}

Status IndexTree::totals_below(const Page& page, const NameRange& range, Totals* totals) const {
  if (page.level() == 0) {
    for (std::uint32_t row = lower_bound_row(page, range.first); row < page.rows(); ++row) {
      if (range.end && page.name(row) >= *range.end) break;
      *totals += index_summary_at(page, row).totals;
    }
    return {};
  }
  for (std::uint32_t row = child_row_for(page, range.first); row < page.rows(); ++row) {
    if (range.end && page.name(row) >= *range.end) break;
    const bool whole =
        range.first <= page.name(row) &&
        (row + 1 < page.rows() ? !range.end || page.name(row + 1) <= *range.end : !range.end);
    if (whole) {
      *totals += index_summary_at(page, row).totals;
    } else {
      NMB_ASSIGN(std::shared_ptr<const Page> below, child(page, row));
      NMB_TRY(totals_below(*below, range, totals));
    }
  }
  return {};
}

Result<Totals> IndexTree::totals_in(const NameRange& range) const {
  if (range.first.empty() && !range.end) return superblock_.totals;
  NMB_ASSIGN(Totals totals, stored_totals_in(range));
  if (!growth_.absent()) NMB_TRY(add_growth(range, &totals));
  return totals;
}

Result<Totals> IndexTree::stored_totals_in(const NameRange& range) const {
  Totals totals;
  if (superblock_.height == 0 || (range.end && *range.end <= range.first)) return totals;
  NMB_ASSIGN(std::shared_ptr<const Page> page, root());
  NMB_TRY(totals_below(*page, range, &totals));
  return totals;
}

Status IndexTree::add_growth(const NameRange& range, Totals* totals) const {
  std::uint64_t grown = 0;
  NMB_TRY(for_each(range, [&](const BlockEntry& entry) -> Result<bool> {
    grown += entry.grown_records;
    return true;
  }));
  totals->records += grown;
  return {};
}

Result<bool> IndexTree::visit_below(
    const Page& page, const NameRange& range,
    const std::function<Result<bool>(const BlockEntry&)>& visit) const {
  const bool leaf = page.level() == 0;
  for (std::uint32_t row = leaf ? lower_bound_row(page, range.first)
                                : child_row_for(page, range.first);
       row < page.rows(); ++row) {
    if (range.end && page.name(row) >= *range.end) return true;
    bool go_on = false;
    if (leaf) {
      BlockEntry entry = entry_at(page, row);
      NMB_TRY(growth_.add_to(&entry));
      NMB_ASSIGN(go_on, visit(entry));
    } else {
      NMB_ASSIGN(std::shared_ptr<const Page> below, child(page, row));
      NMB_ASSIGN(go_on, visit_below(*below, range, visit));
    }
    if (!go_on) return false;
  }
  return true;
}

Status IndexTree::add_leaves(const std::shared_ptr<const Page>& node, std::uint64_t most,
                             std::vector<LeafPlace>* leaves) const {
  for (std::uint32_t row = 0; row < node->rows() && leaves->size() <= most; ++row) {
    if (node->level() == 1) {
      leaves->push_back({node, row});
    } else {
      NMB_ASSIGN(const std::shared_ptr<const Page> below, child(*node, row));
      NMB_TRY(add_leaves(below, most, leaves));
    }
  }
  return {};
}

// Reads only the orders of each leaf, so the sum of the leaf is not checked. If no block was
// removed, the leaves must have each order below next_order once. If an order is missing or occurs
// twice, all leaves are read whole. The remaining damage moves orders from leaf to leaf: then a
// wanted order is in a wrong leaf, this leaf is read whole, and its sum shows the damage.
Result<std::optional<std::vector<IndexTree::LeafPlace>>> IndexTree::wanted_leaves(
    const std::function<Result<bool>(std::uint64_t order)>& wants) const {
  using Leaves = std::optional<std::vector<LeafPlace>>;
  // A block takes more bytes of the file than this.
  constexpr std::uint64_t kLeastBlock = 64;
  const std::uint64_t orders = superblock_.next_order;
  if (far_ || superblock_.height < 2 || superblock_.totals.blocks != orders ||
      orders > file_.size() / kLeastBlock)
    return Leaves();
  NMB_ASSIGN(const std::shared_ptr<const Page> top, root());
  std::vector<LeafPlace> all, wanted;
  NMB_TRY(add_leaves(top, orders, &all));
  if (all.size() > orders) return Leaves();
  std::vector<bool> seen(orders);
  std::uint64_t count = 0;
  for (LeafPlace& leaf : all) {
    const PageExpectation expect = expected_child(superblock_, *leaf.node, leaf.row);
    NMB_ASSIGN(const auto found, peek_column(file_, expect, kOrder));
    if (!found) return Leaves();
    bool is_wanted = false;
    for (const std::uint64_t order : *found) {
      if (order >= orders || seen[order]) return Leaves();
      seen[order] = true;
      ++count;
      if (is_wanted) continue;
      NMB_ASSIGN(is_wanted, wants(order));
    }
    if (is_wanted) wanted.push_back(std::move(leaf));
  }
  if (count != orders) return Leaves();
  return Leaves(std::move(wanted));
}

Status IndexTree::for_each_wanted(
    const std::function<Result<bool>(std::uint64_t order)>& wants,
    const std::function<Result<bool>(const BlockEntry&)>& visit) const {
  NMB_ASSIGN(const auto leaves, wanted_leaves(wants));
  if (!leaves) return for_each({}, visit);
  for (const LeafPlace& leaf : *leaves) {
    NMB_ASSIGN(const std::shared_ptr<const Page> page, child(*leaf.node, leaf.row));
    NMB_ASSIGN(const bool go_on, visit_below(*page, {}, visit));
    if (!go_on) return {};
  }
  return {};
}

Status IndexTree::for_each(const NameRange& range,
                           const std::function<Result<bool>(const BlockEntry&)>& visit) const {
  if (superblock_.height == 0) return {};
  if (!far_) {
    NMB_ASSIGN(const std::shared_ptr<const Page> page, root());
    return visit_below(*page, range, visit).status();
  }
  const ByteRange root_range{superblock_.root_position,
                             superblock_.root_position + superblock_.root_length};
  NMB_TRY(far_->fetch({&root_range, 1}));
  NMB_ASSIGN(const std::shared_ptr<const Page> page, root());
  return scan_far(
      *far_, page,
      [&](const Page& node) {
        std::uint32_t end = node.rows();
        if (range.end) end = lower_bound_row(node, *range.end);
        return std::pair(child_row_for(node, range.first), end);
      },
      [&](const Page& node, std::uint32_t row) { return child(node, row); },
      [&](const std::shared_ptr<const Page>& leaf) { return visit_below(*leaf, range, visit); });
}

}  // namespace nmb
