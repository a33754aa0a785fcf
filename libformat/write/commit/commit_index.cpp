// Commits: collects the changes of the index, distributes them to ranks and writes the index
// (spec/writer.md, section 5.6).
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "extent/needs.h"
#include "index/entry_message.h"
#include "index/index_build.h"
#include "index/index_update.h"
#include "parallel/merge_runs.h"
#include "state/commit_steps.h"

namespace nmb {

bool same_values(const BlockEntry& a, const BlockEntry& b) {
  return a.digest == b.digest && a.kind == b.kind && a.hole == b.hole && a.growth == b.growth &&
         a.extent_length == b.extent_length && a.extent_sum == b.extent_sum &&
         a.records == b.records && a.map.sum == b.map.sum;
}

// Returns the digests of the classic file that became the block, if they are known.
static FileDigests file_digests_of(const WriterCore& w, const BlockState& block,
                                   const BlockEntry& entry) {
  if (const auto* const moved = block.values.as<MovedValues>(); moved && moved->digest()) {
    if (!w.options.dry_run) return moved->digest()->digests();
    FileDigests widest{{kWidestSum, kWidestSum}, {}};
    if (moved->digest()->has_sha256()) widest.sha256.fill(std::byte{0xff});
    return widest;
  }
  if (const PackedBlock* const packed = block.packed()) return packed->file_digests;
  const bool stays = block.committed && same_values(*block.committed, entry);
  return stays ? block.committed->file_digests : FileDigests();
}

BlockEntry entry_of(const WriterCore& w, const BlockCommit& c) {
  const BlockState& block = w.blocks[c.id];
  BlockEntry entry;
  if (block.committed) entry = *block.committed;
  entry.name = w.blocks.name(c.id);
  entry.kind = static_cast<std::uint16_t>(block.next.kind);
  entry.fields() = block.next.fields();
  entry.stored_body() = block.next.stored_body();
  entry.hole = c.hole;
  if (c.rewritten) entry.sum = c.header_sum;
  entry.extent_position = c.extent_position;
  entry.extent_sum = c.map.absent() ? c.extent_sum : 0;
  entry.map = c.map;
  entry.growth = entry.grown_records = 0;
  entry.needs = needs_of_body(entry) | c.needs;
  entry.file_digests = file_digests_of(w, block, entry);
  return entry;
}

namespace {

// The changes of this rank: new entries, changed entries and removed names.
class OwnChanges final : public IndexChanges {
 public:
  OwnChanges(const WriterCore& writer, const std::vector<BlockCommit>& blocks) : writer_(writer) {
    list_.reserve(blocks.size() + writer.blocks.removed_names.size());
    for (const BlockCommit& block : blocks)
      if (!block.grown) list_.push_back({writer.blocks.name(block.id), &block});
    for (const std::string& name : writer.blocks.removed_names) list_.push_back({name, nullptr});
    // If a name was removed and then defined again, the list has two changes of this name. Only the
    // new definition is kept.
    auto less = [](const Change& a, const Change& b) {
      const int order = a.name.compare(b.name);
      return order != 0 ? order < 0 : a.block && !b.block;
    };
    if (!std::ranges::is_sorted(list_, less)) std::ranges::sort(list_, less);
    list_.erase(std::unique(list_.begin(), list_.end(),
                            [](const Change& a, const Change& b) { return a.name == b.name; }),
                list_.end());
  }
  std::size_t count() const override { return list_.size(); }
  std::string_view name(std::size_t i) const override { return list_[i].name; }
  std::optional<BlockEntry> entry(std::size_t i) const override {
    prefetch(i);
    if (!list_[i].block) return std::nullopt;
    return entry_of(writer_, *list_[i].block);
  }

 private:
  struct Change {
    std::string_view name;
    const BlockCommit* block;
  };

  // Prefetches data that is needed soon. The changes are in the order of names, so their blocks are
  // scattered over memory.
  void prefetch(std::size_t i) const {
    constexpr std::size_t kSoon = 8;
    if (i + 2 * kSoon >= list_.size()) return;
    __builtin_prefetch(list_[i + 2 * kSoon].block);
    const BlockCommit* const soon = list_[i + kSoon].block;
    if (!soon) return;
    const auto* const state = reinterpret_cast<const char*>(&writer_.blocks[soon->id]);
    for (std::size_t at = 0; at < sizeof(BlockState); at += 64) __builtin_prefetch(state + at);
  }

  const WriterCore& writer_;
  std::vector<Change> list_;
};

// A change of the index that another rank has sent.
struct SentChange {
  bool is_removal = false;
  BlockEntry entry;  // has only a name if the change is a removal
};

template <class Fields>
void fields(Fields& all, SentChange& change) {
  all(change.is_removal);
  if (change.is_removal)
    all(change.entry.name);
  else
    all(change.entry);
}

// The changes [from, to) of this rank and the changes that other ranks have sent, sorted by name.
class MergedChanges final : public IndexChanges {
 public:
  MergedChanges(const IndexChanges& own, std::size_t from, std::size_t to,
                const Inbox<SentChange>& arrived)
      : own_(own) {
    list_.reserve(to - from + arrived.size());
    for (std::size_t i = from; i < to; ++i) list_.push_back({own.name(i), i, nullptr});
    std::vector<std::size_t> ends;
    int before = -1;  // the sender of the previous change
    for (const auto& [rank, change] : arrived) {
      if (rank != std::exchange(before, rank)) ends.push_back(list_.size());
      list_.push_back({change.entry.name, 0, &change});
    }
    ends.push_back(list_.size());
    merge_runs(list_, ends,
               [](const NamedChange& a, const NamedChange& b) { return a.name < b.name; });
  }
  std::size_t count() const override { return list_.size(); }
  std::string_view name(std::size_t i) const override { return list_[i].name; }
  std::optional<BlockEntry> entry(std::size_t i) const override {
    const NamedChange& item = list_[i];
    if (!item.sent) return own_.entry(item.index);
    if (item.sent->is_removal) return std::nullopt;
    return item.sent->entry;
  }

 private:
  struct NamedChange {
    std::string_view name;
    std::size_t index;  // index of this rank's change
    const SentChange* sent;
  };
  const IndexChanges& own_;
  std::vector<NamedChange> list_;
};

// Returns the number of records that growth pages add. The totals in the index pages do not include
// these records. Collective.
Result<std::uint64_t> grown_records(WriterCore& w) {
  std::uint64_t grown = 0;
  NMB_TRY(w.ranks.first([&]() -> Status {
    NMB_ASSIGN(const std::shared_ptr<const Page> root, w.committed.reader->index().root());
    grown = w.committed.superblock.totals.records - index_summary_of(*root).totals.records;
    return {};
  }));
  return w.ranks.from_first(grown);
}

}  // namespace

Status write_index(WriterCore& w, const std::vector<BlockCommit>& blocks) {
  const Superblock& committed = w.committed.superblock;
  Superblock& next = w.next.superblock;
  Communicator& ranks = w.ranks.communicator();
  const OwnChanges changes(w, blocks);
  const bool build = !w.committed.reader || w.committed.reader->index().height() == 0;
  std::vector<std::string_view> names;
  NameSlices slices;
  if (!w.ranks.is_alone()) {
    names.reserve(changes.count());
    for (std::size_t i = 0; i < changes.count(); ++i) names.push_back(changes.name(i));
    // The ranks that write metadata also read the index pages that change, because they have the
    // file open already.
    NMB_ASSIGN(slices, NameSlices::choose(ranks, names, committed.leaf_rows,
                                          w.aggregation.writer_ranks(ranks.size())));
  }
  const std::vector<std::size_t> begins =
      w.ranks.is_alone() ? std::vector<std::size_t>{0, changes.count()} : slices.cut(names);
  // This rank owns the names of its changes [from, to).
  std::size_t from = 0, to = 0;
  Outbox<SentChange> sent;
  for (std::size_t s = 0; s < slices.count(); ++s) {
    if (slices.owner(s) == w.ranks.own()) {
      from = begins[s];
      to = begins[s + 1];
    } else {
      for (std::size_t i = begins[s]; i < begins[s + 1]; ++i) {
        SentChange change;
        if (std::optional<BlockEntry> entry = changes.entry(i)) {
          change.entry = std::move(*entry);
        } else {
          change.is_removal = true;
          change.entry.name = changes.name(i);
        }
        sent.add(slices.owner(s), change);
      }
    }
  }
  NMB_ASSIGN(const Inbox<SentChange> arrived, w.ranks.exchange(sent));
  const MergedChanges merged(changes, from, to, arrived);

  const WritePages write = [&](std::uint64_t position, std::span<const std::byte> pages) {
    return w.stripes.write_all(position, pages);
  };
  BuiltIndex built;
  if (build) {
    NMB_ASSIGN(built, build_index(ranks, merged, {committed.leaf_rows, committed.node_rows},
                                  w.next.cursor, write, w.new_origin()));
    next.index_position = built.root.position == 0 ? 0 : w.next.cursor;
    next.index_length = built.end - w.next.cursor;
  } else {
    NMB_ASSIGN(built, update_index(ranks, w.committed.reader->index(), merged, w.next.cursor, write,
                                   w.next, w.new_origin()));
    next.index_position = next.index_length = 0;
    if (!w.next.folds_growth && !committed.growth.absent()) {
      NMB_ASSIGN(const std::uint64_t grown, grown_records(w));
      built.root.totals.records += grown;
    }
  }
  w.next.cursor = built.end;
  next.root_position = built.root.position;
  next.root_length = built.root.length;
  next.height = built.root.height;
  next.root_digest = built.root.digest;
  next.totals = built.root.totals;
  next.needs = built.root.needs;
  return {};
}

}  // namespace nmb
