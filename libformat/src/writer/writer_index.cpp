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

}  // namespace

// The owners of slices of the name space write the index, a new one or what changes of one.
Status Writer::Impl::write_index(const std::vector<Commitment>& blocks, Superblock& next) {
  const Changes changes(*this, blocks);
  const bool build = !core_ || core_->index().height() == 0;
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

  const WritePages write = [&](std::uint64_t position, std::span<const std::byte> pages) {
    return stripes_.write_all(position, pages);
  };
  BuiltIndex built;
  if (build) {
    NMB_ASSIGN(built, build_index(ranks_, merged, {superblock_.leaf_rows, superblock_.node_rows},
                                  cursor_, write, new_origin()));
    next.index_position = built.root.position == 0 ? 0 : cursor_;
    next.index_length = built.end - cursor_;
  } else {
    NMB_ASSIGN(built,
               update_index(ranks_, core_->index(), merged, cursor_, write, *this, new_origin()));
    next.index_position = next.index_length = 0;
    // What growth pages add stands in no page of the index.
    if (!commit_.fold && !superblock_.growth.absent()) {
      std::uint64_t grown = 0;
      auto count = [&]() -> Status {
        NMB_ASSIGN(const std::shared_ptr<const Page> before, core_->index().root());
        grown = superblock_.totals.records - holdings_of(*before).totals.records;
        return {};
      };
      NMB_TRY(ranks_.agree(ranks_.rank() == 0 ? count() : Status()));
      NMB_ASSIGN(grown, ranks_.broadcast_value(0, grown));
      built.root.totals.records += grown;
    }
  }
  cursor_ = built.end;
  const IndexRoot& root = built.root;
  next.root_position = root.position;
  next.root_length = root.length;
  next.height = root.height;
  next.root_digest = root.digest;
  next.totals = root.totals;
  next.needs = root.needs;
  return {};
}

}  // namespace nmb
