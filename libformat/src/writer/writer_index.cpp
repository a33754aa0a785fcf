// Commits: what the index is told, and who writes it (spec/format.md, section 7).
#include <algorithm>

#include "extent/needs.h"
#include "index/entry_message.h"
#include "index/index_build.h"
#include "parallel/merge_runs.h"
#include "parallel/name_slices.h"
#include "writer/writer_impl.h"

namespace nmb {

BlockEntry Writer::Impl::entry_of(const Commitment& c) const {
  const BlockState& block = *blocks_[c.id];
  BlockEntry entry;
  if (block.committed) entry = *block.committed;
  entry.name = names_.at(c.id);
  entry.kind = static_cast<std::uint16_t>(block.kind);
  entry.codec = block.codec;
  entry.hole = c.hole;
  entry.position = block.position;
  entry.stored_length = block.stored_length;
  entry.raw_length = block.raw_length;
  entry.digest = block.digest;
  if (c.rewritten) entry.sum = c.header_sum;
  entry.extent_position = c.extent_position;
  entry.extent_length = block.extent_length;
  entry.extent_sum = c.map.absent() ? c.extent_sum : 0;
  entry.dimensions = block.dimensions;
  entry.variables = block.variables;
  entry.attributes = block.attributes;
  entry.records = block.records;
  entry.samples = block.samples;
  entry.map = c.map;
  entry.order = block.order;
  entry.growth = entry.grown_records = 0;
  entry.needs = needs_of_body(entry) | c.needs;
  return entry;
}

// What this rank tells the index: new and changed entries, and names that are gone.
class Writer::Impl::Changes final : public IndexChanges {
 public:
  Changes(const Impl& writer, const std::vector<Commitment>& blocks) : writer_(writer) {
    list_.reserve(blocks.size() + writer.removed_names_.size());
    for (const Commitment& block : blocks)
      if (!block.grown) list_.push_back({writer.names_.at(block.id), &block});
    for (const std::string& name : writer.removed_names_) list_.push_back({name, nullptr});
    // A name that was removed and defined again is one change.
    auto less = [](const Change& a, const Change& b) {
      const int order = a.name.compare(b.name);
      return order != 0 ? order < 0 : a.block && !b.block;
    };
    if (!std::is_sorted(list_.begin(), list_.end(), less))
      std::sort(list_.begin(), list_.end(), less);
    list_.erase(std::unique(list_.begin(), list_.end(),
                            [](const Change& a, const Change& b) { return a.name == b.name; }),
                list_.end());
  }
  std::size_t count() const override { return list_.size(); }
  std::string_view name(std::size_t i) const override { return list_[i].name; }
  std::optional<BlockEntry> entry(std::size_t i) const override {
    prefetch(i);
    if (!list_[i].block) return std::nullopt;
    return writer_.entry_of(*list_[i].block);
  }

 private:
  struct Change {
    std::string_view name;
    const Commitment* block;
  };

  // Blocks lie in another order than names: what is asked for soon is fetched meanwhile.
  void prefetch(std::size_t i) const {
    constexpr std::size_t kSoon = 8;
    if (i + 2 * kSoon >= list_.size()) return;
    __builtin_prefetch(list_[i + 2 * kSoon].block);
    const Commitment* const soon = list_[i + kSoon].block;
    if (!soon) return;
    const auto* const state = reinterpret_cast<const char*>(writer_.blocks_[soon->id]);
    for (std::size_t at = 0; at < sizeof(BlockState); at += 64) __builtin_prefetch(state + at);
  }

  const Impl& writer_;
  std::vector<Change> list_;
};

namespace {

// Changes [from, to) of this rank and those that others sent, by name.
class MergedChanges final : public IndexChanges {
 public:
  MergedChanges(const IndexChanges& own, std::size_t from, std::size_t to) : own_(own) {
    list_.reserve(to - from);
    for (std::size_t i = from; i < to; ++i) list_.push_back({own.name(i), i, false});
    ends_.push_back(list_.size());
  }
  static void put(MessageWriter& out, const IndexChanges& changes, std::size_t i) {
    const std::optional<BlockEntry> entry = changes.entry(i);
    out.put(entry.has_value());
    if (entry)
      put_row(out, *entry);
    else
      out.put_text(changes.name(i));
  }
  // The message's bytes must outlive this.
  void add(const Message& message) {
    for (MessageReader in(message.bytes()); !in.at_end();) {
      Received& received = received_.emplace_back();
      received.present = in.get<bool>();
      if (received.present)
        get_row(in, &received.entry);
      else
        received.entry.name = in.get_text();
    }
    ends_.push_back(own_count() + received_.size());
  }
  void merge() {
    list_.reserve(own_count() + received_.size());
    for (std::size_t i = 0; i < received_.size(); ++i)
      list_.push_back({received_[i].entry.name, i, true});
    merge_runs(list_, ends_, [](const Item& a, const Item& b) { return a.name < b.name; });
  }
  std::size_t count() const override { return list_.size(); }
  std::string_view name(std::size_t i) const override { return list_[i].name; }
  std::optional<BlockEntry> entry(std::size_t i) const override {
    const Item& item = list_[i];
    if (!item.received) return own_.entry(item.index);
    const Received& received = received_[item.index];
    if (!received.present) return std::nullopt;
    return received.entry;
  }

 private:
  struct Received {
    bool present = false;
    BlockEntry entry;
  };
  struct Item {
    std::string_view name;
    std::size_t index;
    bool received;
  };
  std::size_t own_count() const { return ends_.front(); }
  const IndexChanges& own_;
  std::vector<Received> received_;
  std::vector<Item> list_;
  std::vector<std::size_t> ends_;
};

// For rank 0: the changes of all ranks, whose names it knows; entries are fetched by windows of
// names, as those of all ranks may be many. Collective: the others serve it.
class FetchedChanges final : public IndexChanges {
 public:
  FetchedChanges(Communicator& ranks, const IndexChanges& own) : ranks_(ranks), own_(own) {}

  // All ranks, ahead of the rest.
  Status send_names() {
    MessageWriter out;
    for (std::size_t i = 0; i < own_.count(); ++i) {
      const std::string_view name = own_.name(i);
      if (ranks_.rank() == 0) {
        names_.push_back(name);
        continue;
      }
      out.put_small(name.size());
      out.put_raw(std::as_bytes(std::span(name)));
    }
    std::vector<Communicator::Parcel> parcels;
    if (out.size() > 0) parcels.push_back({0, out.take()});
    NMB_ASSIGN(told_, ranks_.exchange(std::move(parcels)));
    for (const Message& message : told_)
      for (MessageReader in(message.bytes()); !in.at_end();)
        names_.push_back(text_of(in.get_raw(in.get_small())));
    std::ranges::sort(names_);
    return {};
  }
  // Ranks but 0: until end().
  Status serve() const {
    for (;;) {
      std::vector<std::byte> asked;
      NMB_TRY(ranks_.broadcast(0, &asked));
      MessageReader in(asked);
      if (!in.get<bool>()) return {};
      const std::string_view first = in.get_text(), last = in.get_text();
      MessageWriter out;
      for (std::size_t i = first_from(first); i < own_.count() && own_.name(i) <= last; ++i)
        MergedChanges::put(out, own_, i);
      std::vector<Communicator::Parcel> parcels;
      if (out.size() > 0) parcels.push_back({0, out.take()});
      NMB_TRY(ranks_.exchange(std::move(parcels)).status());
    }
  }
  // Rank 0: no more is fetched. Fails if fetching has.
  Status end() const {
    NMB_TRY(failure_);
    MessageWriter out;
    out.put(false);
    std::vector<std::byte> asked = out.take();
    return ranks_.broadcast(0, &asked);
  }

  std::size_t count() const override { return names_.size(); }
  std::string_view name(std::size_t i) const override { return names_[i]; }
  // In ascending order of i.
  std::optional<BlockEntry> entry(std::size_t i) const override {
    if (failure_.ok() && i / kWindow != window_) failure_ = fetch(i / kWindow);
    if (!failure_.ok()) return std::nullopt;
    return merged_->entry(i % kWindow);
  }

 private:
  static constexpr std::size_t kWindow = 1 << 13;

  static std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // The first of this rank's changes that is not below `name`.
  std::size_t first_from(std::string_view name) const {
    std::size_t from = 0, to = own_.count();
    while (from < to) {
      const std::size_t middle = from + (to - from) / 2;
      if (own_.name(middle) < name)
        from = middle + 1;
      else
        to = middle;
    }
    return from;
  }
  Status fetch(std::size_t window) const {
    window_ = window;
    const std::string_view first = names_[window * kWindow];
    const std::string_view last = names_[std::min(names_.size(), (window + 1) * kWindow) - 1];
    MessageWriter out;
    out.put(true);
    out.put_text(first);
    out.put_text(last);
    std::vector<std::byte> asked = out.take();
    NMB_TRY(ranks_.broadcast(0, &asked));
    merged_.reset();
    NMB_ASSIGN(arrived_, ranks_.exchange({}));
    std::size_t to = first_from(last);
    if (to < own_.count() && own_.name(to) == last) ++to;
    merged_.emplace(own_, first_from(first), to);
    for (const Message& message : arrived_) merged_->add(message);
    merged_->merge();
    return {};
  }

  Communicator& ranks_;
  const IndexChanges& own_;
  std::vector<Message> told_;
  std::vector<std::string_view> names_;  // of all ranks
  mutable std::size_t window_ = ~std::size_t{0};
  mutable std::vector<Message> arrived_;
  mutable std::optional<MergedChanges> merged_;  // of the window
  mutable Status failure_;
};

void take_root(const IndexRoot& root, Superblock& next) {
  next.root_position = root.position;
  next.root_length = root.length;
  next.height = root.height;
  next.root_digest = root.digest;
  next.totals = root.totals;
  next.needs = root.needs;
}

}  // namespace

// A new index is written by the owners of slices of the name space, a changed one by rank 0, which
// fetches what has changed piece by piece.
Status Writer::Impl::write_index(const std::vector<Commitment>& blocks, Superblock& next) {
  const Changes changes(*this, blocks);
  const bool build = !core_ || core_->index().height() == 0;
  if (!build) return write_changed_index(changes, next);
  std::vector<std::string_view> names;
  NameSlices slices;
  if (ranks_.size() > 1) {
    names.reserve(changes.count());
    for (std::size_t i = 0; i < changes.count(); ++i) names.push_back(changes.name(i));
    NMB_ASSIGN(slices, NameSlices::choose(ranks_, names, superblock_.leaf_rows));
  }
  const std::vector<std::size_t> begins =
      ranks_.size() > 1 ? slices.cut(names) : std::vector<std::size_t>{0, changes.count()};
  std::size_t from = 0, to = 0;  // what this rank owns of its own
  std::vector<Communicator::Parcel> parcels;
  for (std::size_t s = 0; s < slices.count(); ++s) {
    if (slices.owner(s) == ranks_.rank()) {
      from = begins[s];
      to = begins[s + 1];
    } else if (begins[s] < begins[s + 1]) {
      MessageWriter out;
      for (std::size_t i = begins[s]; i < begins[s + 1]; ++i) MergedChanges::put(out, changes, i);
      parcels.push_back({slices.owner(s), out.take()});
    }
  }
  NMB_ASSIGN(const std::vector<Message> arrived, ranks_.exchange(std::move(parcels)));
  MergedChanges merged(changes, from, to);
  for (const Message& message : arrived) merged.add(message);
  merged.merge();

  NMB_ASSIGN(const BuiltIndex built,
             build_index(
                 ranks_, merged, {superblock_.leaf_rows, superblock_.node_rows}, cursor_,
                 [&](std::uint64_t position, std::span<const std::byte> pages) {
                   return stripes_.write_all(position, pages);
                 },
                 new_origin()));
  next.index_position = built.root.position == 0 ? 0 : cursor_;
  next.index_length = built.end - cursor_;
  cursor_ = built.end;
  take_root(built.root, next);
  return {};
}

Status Writer::Impl::write_changed_index(const Changes& changes, Superblock& next) {
  FetchedChanges fetched(ranks_, changes);
  const bool several = ranks_.size() > 1;
  IndexRoot root;
  auto update = [&](const IndexChanges& all) -> Status {
    NMB_ASSIGN(root, update_index(core_->index(), all, *this, new_origin()));
    if (commit_.fold || superblock_.growth.absent()) return {};
    // What growth pages add stands in no page of the index.
    NMB_ASSIGN(const std::shared_ptr<const Page> before, core_->index().root());
    root.totals.records += superblock_.totals.records - holdings_of(*before).totals.records;
    return {};
  };
  if (several) NMB_TRY(fetched.send_names());
  Status status;
  if (!several) {
    status = update(changes);
  } else if (ranks_.rank() == 0) {
    status = update(fetched);
    NMB_TRY(fetched.end());
  } else {
    NMB_TRY(fetched.serve());
  }
  NMB_TRY(ranks_.agree(status));
  next.index_position = next.index_length = 0;
  take_root(root, next);
  return {};
}

}  // namespace nmb
