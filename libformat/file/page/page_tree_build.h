// Writes a tree of pages: the index, or a table of statistics or tags. All ranks write together,
// level by level, and pages have a fixed number of rows (spec/writer.md, section 5.6;
// spec/tables.md, section 9.2).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "page/level_pages.h"
#include "page/origin.h"
#include "page/page.h"
#include "page/page_sink.h"
#include "parallel/outbox.h"
#include "wire/hash.h"

namespace nmb {

// The first page lies at `position`, which is the same on all ranks. The leaves come first, then
// each level of nodes. Each rank passes the pages that begin in its slice of rows, and their
// position, to `write`. `write` is collective, is called once for each level, gets no bytes on a
// rank without pages, and returns the same status on all ranks. The bytes of the tree do not depend
// on how the rows are divided into slices. If a level has at most `few_pages` pages, rank 0 alone
// makes all nodes above it. Memory: a rank's pages of one level. If there is only one rank, it
// writes the pages in parts of about 1 MiB instead of keeping them.
//
// Tree is a class with the properties and functions that differ between kinds of trees:
//   `use()` returns the use of the pages.
//   `leaf_rows()` and `node_rows()` return the maximum number of rows in a leaf and in a node.
//   `Status check_level(level)` returns a failure if the tree must not have nodes of this level.
//   `Rows` is the type of this rank's sorted rows; `count()` returns their number. All rows of a
//     higher rank must be greater.
//   `Row` is the type of a row, and `row(const Rows&, i)` returns a row. A row can be sent to
//     another rank (parallel/message_fields.h).
//   `Child` is the type of a row that refers to a page. It has the members position, length and
//     sum, and can be sent to another rank.
//   `Total total(const Child&)` returns the total of all rows below the child.
//   `Status begin(Communicator&, const Rows&, leading)` is called before the leaves are written. It
//     is collective. `leading` is the number of rows that this rank sends to another rank.
//   `add(PageBuilder&, const Row&, Child*)` adds a row to a leaf, and to the Child that refers to
//     this leaf.
//   `end_leaf(const PageBuilder&)` is called after each leaf.
//   `std::size_t fill_node(PageBuilder&, std::span<const Child>, Child*)` adds children to a node,
//     and returns their number.
template <class Tree>
class PageTreeBuild {
 public:
  using Rows = typename Tree::Rows;
  using Row = typename Tree::Row;
  using Child = typename Tree::Child;
  struct Built {
    std::uint64_t position = 0;  // position of the root; 0 if the tree has no rows
    std::uint32_t length = 0;
    std::uint32_t height = 0;
    Digest digest;          // digest of the root's bytes
    std::uint64_t sum = 0;  // sum of the root's bytes
    typename Tree::Total total{};
    std::uint64_t end = 0;  // end of the last page
  };

  PageTreeBuild(Tree& tree, Communicator& ranks, std::uint64_t position, const WritePages& write,
                const Origin& origin, std::uint64_t few_pages = kFewPages)
      : tree_(tree),
        ranks_(&ranks),
        position_(position),
        write_(&write),
        origin_(origin),
        few_pages_(few_pages) {}

  // Collective.
  Result<Built> run(const Rows& rows) {
    NMB_TRY(write_leaves(rows));
    std::uint16_t level = 0;
    bool several = false;
    for (;;) {
      NMB_ASSIGN(const Share share, share_of(pages_.count(), tree_.node_rows()));
      if (share.total == 0) {
        Built none;
        none.end = position_;
        return none;
      }
      several = share.total > 1;
      if (share.total <= few_pages_) break;
      NMB_TRY(write_nodes(++level, share));
    }
    if (several) {
      NMB_ASSIGN(level, finish_on_first(level));
    }
    NMB_ASSIGN(const int holder, ranks_->all_reduce(pages_.count() == 0 ? -1 : ranks_->rank(),
                                                    [](int a, int b) { return std::max(a, b); }));
    Built root;
    if (holder == ranks_->rank()) {
      const Child& top = pages_.children()[0];
      root.position = top.position;
      root.length = top.length;
      root.height = level + 1u;
      root.digest = last_digest_;
      root.sum = last_sum_;
      root.total = tree_.total(top);
    }
    root.end = position_;
    return ranks_->broadcast_value(holder, root);
  }

 private:
  // In one level, the positions of a rank's rows among the rows of all ranks.
  struct Share {
    std::uint64_t before = 0, total = 0;
    // Number of this rank's first rows that belong to the last page of rank `holder`.
    std::size_t leading = 0;
    int holder = 0;
  };

  Result<Share> share_of(std::size_t rows, std::uint32_t page_rows) {
    Share share;
    NMB_ASSIGN(share.before,
               ranks_->scan_before(std::uint64_t{rows}, std::uint64_t{0}, std::plus<>()));
    NMB_ASSIGN(share.total, ranks_->broadcast_value(ranks_->size() - 1, share.before + rows));
    if (share.before % page_rows != 0)
      share.leading = std::min<std::size_t>(rows, page_rows - share.before % page_rows);
    const int begins_one = share.leading < rows ? ranks_->rank() : -1;
    NMB_ASSIGN(share.holder,
               ranks_->scan_before(begins_one, -1, [](int a, int b) { return std::max(a, b); }));
    return share;
  }

  // Sends this rank's leading rows, which item(i) returns, to the rank that has the first row of
  // their page. Returns the rows that other ranks sent to complete this rank's last page.
  template <class Item, class ItemAt>
  Result<Inbox<Item>> shift(const Share& share, ItemAt item) {
    Outbox<Item> out;
    for (std::size_t i = 0; i < share.leading; ++i) out.add(share.holder, item(i));
    return exchange(*ranks_, out);
  }
  // Sends this rank's leading children, and adds those that arrive to `children`.
  Status shift_children(const Share& share, std::vector<Child>* children) {
    NMB_ASSIGN(Inbox<Child> behind,
               shift<Child>(share, [&](std::size_t i) -> const Child& { return (*children)[i]; }));
    children->erase(children->begin(),
                    children->begin() + static_cast<std::ptrdiff_t>(share.leading));
    for (auto& [rank, child] : behind) children->push_back(std::move(child));
    return {};
  }

  auto keep_last() {
    return [this](const Child&, std::span<const std::byte> page) {
      last_digest_ = digest_of(page);
      last_sum_ = sum_of(page);
    };
  }

  // Adds a page to the level. With only one rank, its position is already known, so it may be
  // written at once.
  Status add_page(const PageBuilder& builder, Child child) {
    NMB_TRY(pages_.add(builder, std::move(child), origin_));
    return ranks_->size() > 1 ? Status() : pages_.place_alone(&position_, *write_, keep_last());
  }

  Status end_level(const Status& status) {
    NMB_TRY(ranks_->agree(status));
    const std::uint64_t length = pages_.unplaced();
    NMB_ASSIGN(const std::uint64_t before,
               ranks_->scan_before(length, std::uint64_t{0}, std::plus<>()));
    NMB_TRY(pages_.place(position_ + before, *write_, keep_last()));
    NMB_ASSIGN(const std::uint64_t total,
               ranks_->broadcast_value(ranks_->size() - 1, before + length));
    position_ += total;
    return {};
  }

  // Makes the nodes above a level of few pages on rank 0. If all ranks made these nodes, they would
  // have to wait for each other at each level. Returns the root's level.
  Result<std::uint16_t> finish_on_first(std::uint16_t level) {
    Share share;
    if (ranks_->rank() != 0) share.leading = pages_.count();
    NMB_TRY(shift_children(share, &pages_.children()));
    if (ranks_->rank() != 0) pages_.start();
    auto make = [&](Communicator& alone, const WritePages& write) -> Result<std::uint16_t> {
      ranks_ = &alone;
      write_ = &write;
      while (pages_.count() > 1) {
        NMB_ASSIGN(share, share_of(pages_.count(), tree_.node_rows()));
        NMB_TRY(write_nodes(++level, share));
      }
      return level;
    };
    Communicator& all = *ranks_;
    const WritePages& write = *write_;
    const auto root_level = make_pages_on_first<std::uint16_t>(all, &position_, write, make);
    ranks_ = &all;
    write_ = &write;
    return root_level;
  }

  Status write_leaves(const Rows& rows) {
    NMB_ASSIGN(const Share share, share_of(rows.count(), tree_.leaf_rows()));
    NMB_TRY(tree_.begin(*ranks_, rows, share.leading));
    NMB_ASSIGN(const Inbox<Row> behind,
               shift<Row>(share, [&](std::size_t i) { return tree_.row(rows, i); }));
    pages_.start();
    PageBuilder builder(tree_.use(), 0);
    Child child;
    auto flush = [&]() -> Status {
      if (builder.rows() == 0) return {};
      NMB_TRY(add_page(builder, std::move(child)));
      tree_.end_leaf(builder);
      builder.clear();
      child = {};
      return {};
    };
    auto work = [&]() -> Status {
      for (std::size_t i = share.leading; i < rows.count(); ++i) {
        if (builder.rows() == tree_.leaf_rows()) NMB_TRY(flush());
        tree_.add(builder, tree_.row(rows, i), &child);
      }
      for (const auto& [rank, row] : behind) {
        if (builder.rows() == tree_.leaf_rows()) NMB_TRY(flush());
        tree_.add(builder, row, &child);
      }
      return flush();
    };
    return end_level(work());
  }

  Status write_nodes(std::uint16_t level, const Share& share) {
    std::vector<Child> children = std::move(pages_.children());
    NMB_TRY(shift_children(share, &children));
    pages_.start();
    auto work = [&]() -> Status {
      NMB_TRY(tree_.check_level(level));
      PageBuilder builder(tree_.use(), level);
      for (std::size_t i = 0; i < children.size();) {
        builder.clear();
        Child parent;
        i += tree_.fill_node(builder, std::span(children).subspan(i), &parent);
        NMB_TRY(add_page(builder, std::move(parent)));
      }
      return {};
    };
    return end_level(work());
  }

  Tree& tree_;
  Communicator* ranks_;
  std::uint64_t position_;  // position of the next level or, with only one rank, of the next page
  const WritePages* write_;
  Origin origin_;
  std::uint64_t few_pages_;
  LevelPages<Child> pages_;     // pages of the level that is being made
  Digest last_digest_;          // digest of the bytes of the last page
  std::uint64_t last_sum_ = 0;  // sum of the bytes of the last page
};

}  // namespace nmb
