#include "index/index_update.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "index/entry_codec.h"
#include "index/entry_message.h"
#include "index/old_pages.h"
#include "page/level_pages.h"
#include "parallel/outbox.h"
#include "wire/hash.h"

namespace nmb {

namespace {

// An old page, and the end of its items in a list. The list has changes, replaced pages of the
// level below, or new pages. The items of the next old page begin at `end`.
struct Replaced {
  PagePath path;
  std::size_t end = 0;
};

// The point in a level where the work of one rank ends and the work of the next rank begins. If
// several ranks work on the same old page, each handles its own changes and the kept rows before
// them, and the last rank also handles the kept rows at the end of the page.
struct Edge {
  int rank = -1;  // -1 if no rank so far has work
  PagePath path;  // path of the old page
  std::string name;
  std::uint32_t row = 0;
};

template <class Fields>
void fields(Fields& all, Edge& edge) {
  all(edge.rank, edge.path, edge.name, edge.row);
}

// The new rows in place of an old page, as a rank sends them to rank 0.
struct NewChildren {
  PagePath path;
  std::vector<ChildRow> rows;
};

template <class Fields>
void fields(Fields& all, NewChildren& children) {
  all(children.path, children.rows);
}

// Members that LeafWork and NodeWork share.
class Work {
 public:
  bool continues(std::size_t page) const { return page == 0 && continues_; }
  const Edge& before() const { return before_; }
  void set_before(Edge before, const PagePath& first) {
    before_ = std::move(before);
    continues_ = before_.rank >= 0 && before_.path == first;
  }
  void set_goes_on(bool on) { goes_on_ = on; }
  // Returns whether the next rank also works on this rank's last old page.
  bool goes_on() const { return goes_on_; }

 private:
  Edge before_;
  bool continues_ = false, goes_on_ = false;
};

// Applies changes of entries to old leaves.
class LeafWork : public Work {
 public:
  struct Row {
    BlockEntry entry;
    std::vector<UnknownValue> unknown;

    template <class Fields>
    friend void fields(Fields& all, Row& row) {
      all(row.entry, row.unknown);
    }
  };

  LeafWork(OldPages& old, const IndexChanges& changes) : old_(old), changes_(changes) {}

  Status find_pages() {
    std::optional<std::string> end;
    for (std::size_t i = 0; i < changes_.count();) {
      NMB_ASSIGN(PagePath path, old_.leaf_of(changes_.name(i), &end));
      for (++i; i < changes_.count() && (!end || changes_.name(i) < *end);) ++i;
      leaves_.push_back({std::move(path), i});
    }
    return {};
  }
  std::size_t count() const { return leaves_.size(); }
  const PagePath& path(std::size_t page) const { return leaves_[page].path; }
  Edge edge() const {
    return {0, leaves_.back().path, std::string(changes_.name(leaves_.back().end - 1)), 0};
  }

  // Visits the new rows by which this rank replaces rows of an old page. dead: receives the pages
  // and structures that are no longer used; may be nullptr.
  template <class Visit>
  Status for_rows(std::size_t page, DeadPages* dead, Visit visit) {
    NMB_ASSIGN(const std::shared_ptr<const Page> leaf, old_.at(path(page)));
    auto copy = [&](std::uint32_t row) -> Status {
      return visit(Row{entry_at(*leaf, row), leaf->has_unknown() ? leaf->unknown_values(row)
                                                                 : std::vector<UnknownValue>()});
    };
    std::uint32_t row = 0;
    if (continues(page))
      while (row < leaf->rows() && leaf->name(row) <= before().name) ++row;
    for (std::size_t i = page == 0 ? 0 : leaves_[page - 1].end; i < leaves_[page].end; ++i) {
      const std::string_view name = changes_.name(i);
      for (; row < leaf->rows() && leaf->name(row) < name; ++row) NMB_TRY(copy(row));
      if (row < leaf->rows() && leaf->name(row) == name) {
        if (dead) drop_later_places(*leaf, row, *dead);
        ++row;
      }
      if (std::optional<BlockEntry> entry = changes_.entry(i))
        NMB_TRY(visit(Row{std::move(*entry), {}}));
    }
    if (page + 1 < count() || !goes_on())
      for (; row < leaf->rows(); ++row) NMB_TRY(copy(row));
    if (dead && !continues(page)) dead->replaced(*leaf);
    return {};
  }

  static const std::string& name(const Row& row) { return row.entry.name; }
  // Adds a row to a new leaf. first: the separator of the old page if this is the first row made
  // from it, otherwise nullptr.
  static void add(PageBuilder& leaf, const Row& row, const std::string* first,
                  std::string_view before, ChildRow* child) {
    if (leaf.rows() == 0)
      child->separator = first ? *first : separator_between(before, row.entry.name);
    add_entry(leaf, row.entry);
    leaf.keep(row.unknown);
    child->holds += index_summary_of(row.entry);
  }

 private:
  OldPages& old_;
  const IndexChanges& changes_;
  std::vector<Replaced> leaves_;  // `end` is an index in the changes
};

// Writes new nodes in place of the old nodes above pages that were replaced in the level below.
class NodeWork : public Work {
 public:
  using Row = ChildRow;

  NodeWork(OldPages& old, std::vector<Replaced> below, std::vector<ChildRow> rows)
      : old_(old), below_(std::move(below)), rows_(std::move(rows)) {}

  Status find_pages() {
    for (std::size_t i = 0; i < below_.size(); ++i) {
      PagePath path = parent_of(below_[i].path);
      if (nodes_.empty() || nodes_.back().path != path) nodes_.push_back({std::move(path), 0});
      nodes_.back().end = i + 1;
    }
    return {};
  }
  std::size_t count() const { return nodes_.size(); }
  const PagePath& path(std::size_t page) const { return nodes_[page].path; }
  Edge edge() const {
    const PagePath& last = below_.back().path;
    return {0, nodes_.back().path, "", last.empty() ? 0 : last.back()};
  }

  template <class Visit>
  Status for_rows(std::size_t page, DeadPages* dead, Visit visit) {
    std::shared_ptr<const Page> node;
    if (!path(page).empty()) {
      NMB_ASSIGN(node, old_.at(path(page)));
    }
    std::uint32_t row = continues(page) ? before().row + 1 : 0;
    for (std::size_t i = page == 0 ? 0 : nodes_[page - 1].end; i < nodes_[page].end; ++i) {
      if (node) {
        const std::uint32_t changed = below_[i].path.back();
        for (; row < changed; ++row) NMB_TRY(visit(child_at(*node, row)));
        // If row > changed, row `changed` has been handled already: a lower rank or an earlier item
        // replaced another part of the page to which this row refers.
        if (row == changed) {
          if (dead) drop_later_places(*node, row, *dead);
          ++row;
        }
      }
      for (std::size_t k = i == 0 ? 0 : below_[i - 1].end; k < below_[i].end; ++k)
        NMB_TRY(visit(rows_[k]));
    }
    if (!node) return {};
    if (page + 1 < count() || !goes_on())
      for (; row < node->rows(); ++row) NMB_TRY(visit(child_at(*node, row)));
    if (dead && !continues(page)) dead->replaced(*node);
    return {};
  }

  static const std::string& name(const Row& row) { return row.separator; }
  static void add(PageBuilder& node, const Row& row, const std::string* first, std::string_view,
                  ChildRow* parent) {
    if (first) {
      Row renamed = row;
      renamed.separator = *first;
      return add(node, renamed, nullptr, {}, parent);
    }
    if (node.rows() == 0) parent->separator = row.separator;
    add_child(node, row);
    parent->holds += row.holds;
  }

 private:
  OldPages& old_;
  std::vector<Replaced> below_;
  std::vector<ChildRow> rows_;
  std::vector<Replaced> nodes_;  // `end` is an index in `below_`
};

// The last old page of all ranks up to a given rank, and the new rows that they make from it.
struct Tail {
  bool any = false;
  bool all = false;  // whether these ranks work on no other page
  PagePath path;
  std::uint64_t rows = 0;
  std::string last;  // name of the last row

  static Tail join(const Tail& a, Tail b) {
    if (!b.any) return a;
    if (!a.any || !b.all || a.path != b.path) return b;
    if (b.rows == 0) b.last = a.last;
    b.rows += a.rows;
    b.all = a.all;
    return b;
  }
};

template <class Fields>
void fields(Fields& all, Tail& tail) {
  all(tail.any, tail.all, tail.rows, tail.path, tail.last);
}

class Update {
 public:
  Update(Communicator& ranks, const IndexTree& old, std::uint64_t position, const WritePages& write,
         DeadPages& dead, const Origin& origin, std::uint64_t few_pages)
      : ranks_(&ranks),
        tree_(old),
        old_(old),
        position_(position),
        write_(&write),
        dead_(dead),
        origin_(origin),
        few_pages_(few_pages) {}

  Result<BuiltIndex> run(const IndexChanges& changes) {
    enum Whose : int { kNobodys, kFirsts, kSeveral };
    const Whose own = changes.count() == 0 ? kNobodys : ranks_->rank() == 0 ? kFirsts : kSeveral;
    NMB_ASSIGN(const Whose whose,
               ranks_->all_reduce(own, [](Whose a, Whose b) { return std::max(a, b); }));
    if (whose == kNobodys) {
      NMB_TRY(ranks_->agree(ranks_->rank() == 0 ? keep_root() : Status()));
      return find_root();
    }
    const bool together = whose == kSeveral || ranks_->size() == 1;
    if (together) {
      NMB_TRY(write_leaves(changes));
      NMB_TRY(climb());
    }
    if (!finished()) {
      NMB_ASSIGN(const Top top, finish_on_first(together ? nullptr : &changes));
      return settle_root(top);
    }
    return find_root();
  }

 private:
  // Sums over all ranks: bytes and pages in the level that was written last.
  struct Written {
    std::uint64_t bytes = 0, pages = 0, replaced = 0;
    bool failed = false;
    friend Written operator+(const Written& a, const Written& b) {
      return {a.bytes + b.bytes, a.pages + b.pages, a.replaced + b.replaced, a.failed || b.failed};
    }
  };
  // The root of the new index.
  struct Top {
    std::uint64_t position = 0;  // 0 if the index has no entries
    std::uint64_t sum = 0;
    std::uint32_t length = 0;
    std::uint16_t level = 0;
    bool only_child = false;  // whether this page was the only child of the previous root
    IndexSummary holds;
    Digest digest;
  };
  // This rank's part of its first old page, on which lower ranks may work too.
  struct Share {
    std::uint64_t before = 0;   // rows that lower ranks make from the page
    std::uint64_t leading = 0;  // this rank's first rows, which go to a page of rank `holder`
    int holder = 0;
    std::string last;  // name of the last row that lower ranks make
  };

  // Returns whether the level that was written last is the level of the root: it has at most one
  // page, and the old index has no level above it.
  bool finished() const { return begun_ && level_ + 1u >= tree_.height() && all_.pages <= 1; }

  Status keep_root() {
    NMB_ASSIGN(const std::shared_ptr<const Page> root, tree_.root());
    level_ = root->level();
    pages_.children().push_back({"", root->position(),
                                 static_cast<std::uint32_t>(root->bytes().size()), root->sum(),
                                 index_summary_of(*root)});
    return {};
  }

  Status write_leaves(const IndexChanges& changes) {
    LeafWork work(old_, changes);
    level_ = 0;
    begun_ = true;
    return write_level(work, tree_.superblock().leaf_rows);
  }

  // Writes levels of nodes up to the root, or until a level has too little work for several ranks.
  Status climb() {
    while (!finished() && (ranks_->size() == 1 || all_.pages + all_.replaced > few_pages_)) {
      NodeWork work(old_, std::move(replaced_), std::move(pages_.children()));
      ++level_;
      NMB_TRY(write_level(work, tree_.superblock().node_rows));
    }
    return {};
  }

  // Tells each rank where the work of its neighbours begins and ends.
  template <class Level>
  Status meet_neighbours(Level& work) {
    Edge own;
    if (work.count() > 0) {
      own = work.edge();
      own.rank = ranks_->rank();
    }
    NMB_ASSIGN(Edge before, scan_fields(*ranks_, own, Edge(), [](const Edge& a, const Edge& b) {
                 return b.rank < 0 ? a : b;
               }));
    Outbox<PagePath> first_pages;
    if (work.count() > 0 && before.rank >= 0) {
      first_pages.add(before.rank, work.path(0));
      work.set_before(std::move(before), work.path(0));
    }
    NMB_ASSIGN(const Inbox<PagePath> arrived, exchange(*ranks_, first_pages));
    for (const auto& [rank, path] : arrived) work.set_goes_on(path == work.path(work.count() - 1));
    return {};
  }

  // Determines this rank's share of its first old page. *status: status of this rank, which
  // contributes no rows after a failure.
  template <class Level>
  Result<Share> share_of(Level& work, std::uint32_t page_rows, Status* status) {
    std::string last;
    auto rows_of = [&](std::size_t page) {
      std::uint64_t rows = 0;
      if (status->ok())
        *status = work.for_rows(page, nullptr, [&](const typename Level::Row& row) -> Status {
          ++rows;
          last = Level::name(row);
          return {};
        });
      return rows;
    };
    Tail own;
    std::uint64_t first = 0;
    if (work.count() > 0) {
      first = rows_of(0);
      own = {true, work.count() == 1, work.path(work.count() - 1), first, ""};
      if (!own.all) own.rows = rows_of(work.count() - 1);
      own.last = last;
    }
    NMB_ASSIGN(Tail before, scan_fields(*ranks_, own, Tail(), Tail::join));
    Share share;
    if (own.any && before.any && before.path == work.path(0)) {
      share.before = before.rows;
      share.last = std::move(before.last);
    }
    if (share.before % page_rows != 0)
      share.leading = std::min(first, page_rows - share.before % page_rows);
    const bool begins_page = own.any && own.rows > (own.all ? share.leading : 0);
    NMB_ASSIGN(share.holder, ranks_->scan_before(begins_page ? ranks_->rank() : -1, -1,
                                                 [](int a, int b) { return std::max(a, b); }));
    return share;
  }

  template <class Level>
  Status write_level(Level& work, std::uint32_t page_rows) {
    replaced_.clear();
    pages_.start();
    Status status;
    if (level_ > 0)
      status =
          check_index_level(level_, tree_.superblock().leaf_rows, tree_.superblock().node_rows);
    if (status.ok()) status = work.find_pages();
    Share share;
    if (ranks_->size() > 1) {
      NMB_TRY(meet_neighbours(work));
      NMB_ASSIGN(share, share_of(work, page_rows, &status));
    }
    PageBuilder builder(PageUse::kIndex, level_);
    ChildRow page;  // the row that will refer to the page that is being made
    std::string last = share.last;
    auto flush = [&]() -> Status {
      if (builder.rows() == 0) return {};
      last = builder.last_name();
      NMB_TRY(add_page(builder, std::move(page)));
      builder.clear();
      page = {};
      return {};
    };
    Outbox<typename Level::Row> leading;
    auto make_pages = [&]() -> Status {
      for (std::size_t i = 0; i < work.count(); ++i) {
        NMB_TRY(flush());
        if (i > 0) replaced_.back().end = pages_.count();
        replaced_.push_back({work.path(i), 0});
        NMB_ASSIGN(const std::string separator, old_.separator_of(work.path(i)));
        std::uint64_t before = i == 0 ? share.before : 0;
        std::uint64_t others = i == 0 ? share.leading : 0;
        NMB_TRY(work.for_rows(i, &dead_, [&](const typename Level::Row& row) -> Status {
          if (others > 0) {
            leading.add(share.holder, row);
            last = Level::name(row);
            --others;
          } else {
            if (builder.rows() == page_rows) NMB_TRY(flush());
            Level::add(builder, row, before == 0 ? &separator : nullptr, last, &page);
          }
          ++before;
          return {};
        }));
      }
      return {};
    };
    if (status.ok()) status = make_pages();
    NMB_ASSIGN(const auto arrived, exchange(*ranks_, leading));
    if (status.ok()) {
      for (const auto& [rank, row] : arrived) Level::add(builder, row, nullptr, last, &page);
      status = flush();
      if (!replaced_.empty()) replaced_.back().end = pages_.count();
    }
    return end_level(status);
  }

  // Returns a function that keeps a copy of the level's last page.
  auto keep_last() {
    return [this](const ChildRow& page, std::span<const std::byte> bytes) {
      if (level_ >= last_.size()) last_.resize(level_ + 1u);
      last_[level_] = {page.position, {bytes.begin(), bytes.end()}};
    };
  }

  // Adds a page to the level. With only one rank, its position is already known, so it may be
  // written at once.
  Status add_page(const PageBuilder& builder, ChildRow row) {
    NMB_TRY(pages_.add(builder, std::move(row), origin_));
    return ranks_->size() > 1 ? Status() : pages_.place_alone(&position_, *write_, keep_last());
  }

  Status end_level(const Status& status) {
    const Written own{pages_.unplaced(), pages_.count(), replaced_.size(), !status.ok()};
    NMB_ASSIGN(all_, ranks_->all_reduce(own, std::plus<>()));
    if (all_.failed) return ranks_->agree(status);
    NMB_ASSIGN(const Written before, ranks_->scan_before(own, Written(), std::plus<>()));
    NMB_TRY(pages_.place(position_ + before.bytes, *write_, keep_last()));
    position_ += all_.bytes;
    return {};
  }

  // Makes the few remaining pages on rank 0. If `changes` is nullptr, the pages above the level
  // that was written last remain, otherwise the pages of all levels.
  Result<Top> finish_on_first(const IndexChanges* changes) {
    if (!changes) {
      Outbox<NewChildren> out;
      if (ranks_->rank() != 0) {
        auto next = pages_.children().begin();
        for (const Replaced& page : replaced_) {
          const auto end = pages_.children().begin() + static_cast<std::ptrdiff_t>(page.end);
          out.add(0, {page.path, {next, end}});
          next = end;
        }
        replaced_.clear();
        pages_.start();
      }
      NMB_ASSIGN(Inbox<NewChildren> arrived, exchange(*ranks_, out));
      for (auto& [rank, page] : arrived) {
        std::ranges::move(page.rows, std::back_inserter(pages_.children()));
        replaced_.push_back({std::move(page.path), pages_.count()});
      }
    }
    auto make = [&](Communicator& alone, const WritePages& write_alone) -> Result<Top> {
      ranks_ = &alone;
      write_ = &write_alone;
      if (changes) NMB_TRY(write_leaves(*changes));
      NMB_TRY(climb());
      Top top;
      if (pages_.count() > 0) NMB_TRY(look_at_only_page(&top));
      return top;
    };
    Communicator& all = *ranks_;
    const WritePages& write = *write_;
    const Result<Top> top = make_pages_on_first<Top>(all, &position_, write, make);
    ranks_ = &all;
    write_ = &write;
    return top;
  }

  // Returns the bytes of the root. As the only page of its level, it is either a committed page or
  // the last page that this rank wrote in that level.
  Result<std::vector<std::byte>> bytes_of(const Top& top) const {
    if (wrote(top)) return last_[top.level].bytes;
    PageExpectation expect = expectation(top);
    NMB_ASSIGN(const std::shared_ptr<const Page> page, read_page(tree_.file(), expect));
    return std::vector<std::byte>(page->bytes().begin(), page->bytes().end());
  }
  bool wrote(const Top& top) const {
    return top.level < last_.size() && last_[top.level].position == top.position;
  }
  PageExpectation expectation(const Top& top) const {
    PageExpectation expect = tree_.superblock().expectation(PageUse::kIndex, top.level);
    expect.newest = origin_;
    expect.position = top.position;
    expect.length = top.length;
    expect.sum = top.sum;
    return expect;
  }

  // Finds the root, the only page of the level that was written last. One rank has it, or none if
  // the index is empty. Collective.
  Result<BuiltIndex> find_root() {
    NMB_ASSIGN(const int holder,
               ranks_->all_reduce(pages_.count() == 0 ? -1 : ranks_->rank(), highest));
    Top top;
    if (holder >= 0) {
      NMB_TRY(ranks_->agree(holder == ranks_->rank() ? look_at_only_page(&top) : Status()));
      NMB_ASSIGN(top, ranks_->broadcast_value(holder, top));
    }
    return settle_root(top);
  }

  // As long as the root has only one child, makes the child the root. Collective.
  Result<BuiltIndex> settle_root(Top top) {
    while (top.only_child) {
      NMB_ASSIGN(int holder, ranks_->all_reduce(wrote(top) ? ranks_->rank() : -1, highest));
      holder = std::max(holder, 0);
      NMB_TRY(ranks_->agree(holder == ranks_->rank() ? look_at(&top) : Status()));
      NMB_ASSIGN(top, ranks_->broadcast_value(holder, top));
    }
    BuiltIndex built;
    built.end = position_;
    if (top.position == 0) return built;
    built.root = {top.position, top.length,       top.level + 1u,
                  top.digest,   top.holds.totals, top.holds.needs};
    return built;
  }
  static int highest(int a, int b) { return std::max(a, b); }

  Status look_at_only_page(Top* top) {
    const ChildRow& page = pages_.children()[0];
    *top = {page.position, page.sum, page.length, level_, false, page.holds, {}};
    return look_at(top);
  }

  Status look_at(Top* top) {
    top->only_child = false;
    NMB_ASSIGN(std::vector<std::byte> bytes, bytes_of(*top));
    top->digest = digest_of(bytes);
    if (top->level == 0) return {};
    FirstFinding first;
    const std::optional<Page> page = Page::decode(std::move(bytes), expectation(*top), first);
    if (!page) return first.status(tree_.file().name());
    if (page->rows() != 1) return {};
    dead_.replaced(*page);
    drop_later_places(*page, 0, dead_);
    const ChildRow child = child_at(*page, 0);
    *top = {
        child.position, child.sum, child.length, static_cast<std::uint16_t>(top->level - 1), true,
        child.holds,    {}};
    return {};
  }

  Communicator* ranks_;
  const IndexTree& tree_;
  OldPages old_;
  std::uint64_t position_;  // position of the next level or, with only one rank, of the next page
  const WritePages* write_;
  DeadPages& dead_;
  Origin origin_;
  std::uint64_t few_pages_;
  // These members describe the level that was written last.
  bool begun_ = false;
  std::uint16_t level_ = 0;
  LevelPages<ChildRow> pages_;
  std::vector<Replaced> replaced_;  // old pages that the new pages replace
  Written all_;
  struct LastPage {
    std::uint64_t position = 0;
    std::vector<std::byte> bytes;
  };
  std::vector<LastPage> last_;  // last page of each level
};

}  // namespace

Result<BuiltIndex> update_index(Communicator& ranks, const IndexTree& old,
                                const IndexChanges& changes, std::uint64_t position,
                                const WritePages& write, DeadPages& dead, const Origin& origin,
                                std::uint64_t few_pages) {
  return Update(ranks, old, position, write, dead, origin, few_pages).run(changes);
}

}  // namespace nmb
