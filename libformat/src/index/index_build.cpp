// The index of a new file: levels of pages, cut by count (see index/index_build.h).
#include "index/index_build.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "index/entry_codec.h"
#include "index/entry_message.h"
#include "page/page.h"
#include "wire/hash.h"

namespace nmb {

namespace {

class IndexBuild {
 public:
  using Write = std::function<Status(std::uint64_t, std::span<const std::byte>)>;
  IndexBuild(Communicator& ranks, IndexPageRows rows, std::uint64_t position, const Write& write,
             const Origin& origin)
      : ranks_(&ranks), rows_(rows), position_(position), write_(&write), origin_(origin) {}

  Result<BuiltIndex> run(const IndexChanges& entries) {
    NMB_TRY(write_leaves(entries));
    std::uint16_t level = 0;
    bool several = false;
    for (;;) {
      NMB_ASSIGN(const Share share, share_of(pages_.size(), rows_.node));
      if (share.total == 0) return BuiltIndex{{}, position_};
      several = share.total > 1;
      if (share.total <= kFewPages) break;
      NMB_TRY(write_nodes(++level, share));
    }
    if (several) NMB_TRY(finish_on_first(&level));
    NMB_ASSIGN(const int holder, ranks_->all_reduce(pages_.empty() ? -1 : ranks_->rank(),
                                                    [](int a, int b) { return std::max(a, b); }));
    IndexRoot root;
    if (holder == ranks_->rank()) {
      root.position = pages_[0].position;
      root.length = pages_[0].length;
      root.height = level + 1u;
      root.digest = last_digest_;
      root.totals = pages_[0].holds.totals;
      root.needs = pages_[0].holds.needs;
    }
    NMB_ASSIGN(root, ranks_->broadcast_value(holder, root));
    return BuiltIndex{root, position_};
  }

 private:
  // A rank's rows of a level, among those of all ranks.
  struct Share {
    std::uint64_t before = 0, total = 0;
    std::size_t leading = 0;  // rows of a page that began with a row of `holder`
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

  // Hands the leading rows, which `put` writes, to the rank that has the page's first; returns the
  // rows that end this rank's last page.
  template <class Row, class Put>
  Result<std::vector<Row>> shift(const Share& share, Put put) {
    std::vector<Communicator::Parcel> parcels;
    if (share.leading > 0) {
      MessageWriter out;
      for (std::size_t i = 0; i < share.leading; ++i) put(out, i);
      parcels.push_back({share.holder, out.take()});
    }
    NMB_ASSIGN(const std::vector<Message> arrived, ranks_->exchange(std::move(parcels)));
    std::vector<Row> rows;
    for (const Message& message : arrived)
      for (MessageReader in(message.bytes()); !in.at_end();) get_row(in, &rows.emplace_back());
    return rows;
  }

  // A page whose place is not known yet.
  Status add_page(const PageBuilder& builder, const Holdings& holds, std::string separator) {
    NMB_ASSIGN(const PageBuilder::Encoded page, builder.encode(origin_, 0));
    bytes_.insert(bytes_.end(), page.bytes.begin(), page.bytes.end());
    pages_.push_back(
        {std::move(separator), 0, static_cast<std::uint32_t>(page.bytes.size()), 0, holds});
    return {};
  }

  // Gives the pages that are not placed yet their places, from `position` on.
  Status place_pages(std::uint64_t position) {
    auto rest = std::span(bytes_);
    const std::uint64_t from = position;
    for (; placed_ < pages_.size(); ++placed_) {
      ChildRow& page = pages_[placed_];
      auto own = rest.first(page.length);
      page.position = position;
      page.sum = place_page(own, position);
      position += page.length;
      rest = rest.subspan(page.length);
      if (rest.empty()) last_digest_ = digest_of(own);
    }
    const Status status = (*write_)(from, bytes_);
    bytes_.clear();
    return status;
  }

  // While a level is being made: one rank alone knows where its pages lie.
  Status pass_on() {
    if (ranks_->size() > 1 || bytes_.size() < kPassOn) return {};
    const std::uint64_t length = bytes_.size();
    NMB_TRY(place_pages(position_));
    position_ += length;
    return {};
  }

  Status end_level(const Status& status) {
    NMB_TRY(ranks_->agree(status));
    const std::uint64_t length = bytes_.size();
    NMB_ASSIGN(const std::uint64_t before,
               ranks_->scan_before(length, std::uint64_t{0}, std::plus<>()));
    NMB_TRY(place_pages(position_ + before));
    NMB_ASSIGN(const std::uint64_t total,
               ranks_->broadcast_value(ranks_->size() - 1, before + length));
    position_ += total;
    return {};
  }

  // Nodes over few pages are rank 0's to make: level by level all ranks would have to wait.
  Status finish_on_first(std::uint16_t* level) {
    Share share;
    if (ranks_->rank() != 0) share.leading = pages_.size();
    NMB_ASSIGN(std::vector<ChildRow> behind,
               shift<ChildRow>(
                   share, [&](MessageWriter& out, std::size_t i) { put_row(out, pages_[i]); }));
    if (ranks_->rank() != 0) start_level();
    std::move(behind.begin(), behind.end(), std::back_inserter(pages_));
    auto finish = [&]() -> Status {
      while (pages_.size() > 1) {
        NMB_ASSIGN(share, share_of(pages_.size(), rows_.node));
        NMB_TRY(write_nodes(++*level, share));
      }
      return {};
    };
    // The pages follow one another: all ranks write them together, as those of other levels.
    const std::uint64_t position = position_;
    std::vector<std::byte> bytes;
    const Write gather = [&](std::uint64_t, std::span<const std::byte> pages) {
      bytes.insert(bytes.end(), pages.begin(), pages.end());
      return Status();
    };
    Communicator& all = *std::exchange(ranks_, &alone_);
    const Write& write = *std::exchange(write_, &gather);
    const Status status = finish();
    ranks_ = &all;
    write_ = &write;
    NMB_TRY(all.agree(status));
    NMB_TRY(write(position, bytes));
    NMB_ASSIGN(position_, all.broadcast_value(0, position_));
    return {};
  }

  void start_level() {
    pages_.clear();
    placed_ = 0;
  }

  Status write_leaves(const IndexChanges& entries) {
    NMB_ASSIGN(const Share share, share_of(entries.count(), rows_.leaf));
    // The last name ahead of this rank's, behind a letter that says that there is one.
    std::string last =
        entries.count() == 0 ? "" : "=" + std::string(entries.name(entries.count() - 1));
    NMB_ASSIGN(last, ranks_->scan_before(last, std::string(),
                                         [](const std::string& a, const std::string& b) {
                                           return b.empty() ? a : b;
                                         }));
    NMB_ASSIGN(const std::vector<BlockEntry> behind,
               shift<BlockEntry>(share, [&](MessageWriter& out, std::size_t i) {
                 put_row(out, *entries.entry(i));
               }));
    start_level();
    if (share.leading > 0) last = "=" + std::string(entries.name(share.leading - 1));
    PageBuilder builder(PageUse::kIndex, 0);
    Holdings holds;
    std::string separator;
    auto flush = [&]() -> Status {
      if (builder.rows() == 0) return {};
      NMB_TRY(add_page(builder, holds, std::move(separator)));
      last = "=" + std::string(builder.last_name());
      builder.clear();
      holds = {};
      return pass_on();
    };
    auto add = [&](const BlockEntry& entry) -> Status {
      if (builder.rows() == rows_.leaf) NMB_TRY(flush());
      if (builder.rows() == 0)
        separator =
            last.empty() ? "" : separator_between(std::string_view(last).substr(1), entry.name);
      add_entry(builder, entry);
      holds += holdings_of(entry);
      return {};
    };
    auto work = [&]() -> Status {
      for (std::size_t i = share.leading; i < entries.count(); ++i) NMB_TRY(add(*entries.entry(i)));
      for (const BlockEntry& entry : behind) NMB_TRY(add(entry));
      return flush();
    };
    return end_level(work());
  }

  Status write_nodes(std::uint16_t level, const Share& share) {
    std::vector<ChildRow> children = std::move(pages_);
    NMB_ASSIGN(std::vector<ChildRow> behind,
               shift<ChildRow>(
                   share, [&](MessageWriter& out, std::size_t i) { put_row(out, children[i]); }));
    children.erase(children.begin(), children.begin() + static_cast<std::ptrdiff_t>(share.leading));
    std::move(behind.begin(), behind.end(), std::back_inserter(children));
    start_level();
    auto work = [&]() -> Status {
      NMB_TRY(check_index_level(level, rows_.leaf, rows_.node));
      PageBuilder builder(PageUse::kIndex, level);
      for (std::size_t i = 0; i < children.size();) {
        builder.clear();
        Holdings holds;
        std::string separator = children[i].separator;
        i += fill_node(builder, std::span(children).subspan(i), rows_.node, &holds);
        NMB_TRY(add_page(builder, holds, std::move(separator)));
        NMB_TRY(pass_on());
      }
      return {};
    };
    return end_level(work());
  }

  static constexpr std::size_t kPassOn = 1 << 20;
  static constexpr std::uint64_t kFewPages = 1024;
  Communicator alone_;
  Communicator* ranks_;
  const IndexPageRows rows_;
  std::uint64_t position_;  // of the next level, or of the next page of one rank alone
  const Write* write_;
  Origin origin_;
  // Of the level being made.
  std::vector<ChildRow> pages_;
  std::size_t placed_ = 0;        // pages that have their places
  std::vector<std::byte> bytes_;  // of the pages that have not
  Digest last_digest_;
};

}  // namespace

Result<BuiltIndex> build_index(
    Communicator& ranks, const IndexChanges& entries, IndexPageRows rows, std::uint64_t position,
    const std::function<Status(std::uint64_t, std::span<const std::byte>)>& write,
    const Origin& origin) {
  return IndexBuild(ranks, rows, position, write, origin).run(entries);
}

}  // namespace nmb
