// Commits: statistics of the values of blocks, and tags (spec/format.md, sections 9.2 to 9.4).
// Values that are moved are counted by the way; other values are read again.
#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>

#include "extent/piece_codec.h"
#include "parallel/letters.h"
#include "parallel/workers.h"
#include "statistics/block_counter.h"
#include "statistics/statistics_row.h"
#include "table/block_table.h"
#include "table/kept_rows.h"
#include "table/table_build.h"
#include "writer/statistics_tap.h"
#include "writer/writer_impl.h"

namespace nmb {

namespace {

// Whether definitions and values of a block are what they were.
bool same_values(const BlockEntry& a, const BlockEntry& b) {
  return a.sum == b.sum && a.extent_length == b.extent_length && a.extent_sum == b.extent_sum &&
         a.records == b.records && a.map.sum == b.map.sum;
}

// rows <= 2 * total
bool has_at_most_twice(std::uint64_t rows, std::uint64_t total) {
  return rows <= total || rows - total <= total;
}

}  // namespace

Result<std::unique_ptr<BlockCounter>> Writer::Impl::counter_of(BlockId id) {
  const BlockState& block = state(id);
  if (block.metadata && !block.partial)
    return BlockCounter::make(*block.metadata, block.layout, block.records, options_.statistics);
  NMB_ASSIGN(const ClassicHeader header, stored_header(id));
  return BlockCounter::make(header.metadata, header.layout, block.records, options_.statistics);
}

// The values of a block that lie in the file, for one thread; of others nothing.
std::shared_ptr<const ByteSource> Writer::Impl::extent_source(BlockId id) {
  class Values final : public ByteSource {
   public:
    Values(Impl& writer, BlockId id)
        : writer_(writer), size_(writer.state(id).extent_length), pattern_(none_, {}) {
      if (writer.state(id).values.takes_puts()) {
        extent_ = writer.extent_of(id);
      } else {
        nothing_ = writer.new_extent(id);
        nothing_->start_committed(size_);
        extent_ = nothing_.get();
      }
    }
    std::uint64_t size() const override { return size_; }
    const std::string& name() const override { return writer_.file_->name(); }
    Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
      return extent_->read(offset, out, writer_.buffer_, pattern_);
    }

   private:
    Impl& writer_;
    const std::uint64_t size_;
    std::unique_ptr<ExtentState> nothing_;
    ExtentState* extent_;
    const Metadata none_;
    const FillPattern pattern_;
  };
  return std::make_shared<Values>(*this, id);
}

// Counts the values of a block that were not counted by the way.
Result<CountedBlock> Writer::Impl::count_block(const Commitment& c) {
  BlockState& block = state(c.id);
  NMB_ASSIGN(Counting counting, block.values.count({block.extent_length, options_.threads, buffer_,
                                                    [this, id = c.id] { return counter_of(id); },
                                                    [this, id = c.id] { return extent_of(id); }}));
  if (!counting.counter) return std::move(counting.counted);
  BlockCounter* const counter = counting.counter.get();
  if (counter->has_chunks()) {
    const bool is_packed = block.packed && block.packed->extent;
    NMB_TRY(counter->count_chunks(is_packed ? block.packed->extent : extent_source(c.id),
                                  is_packed ? options_.threads : 1));
  }
  NMB_ASSIGN(BlockStatistics statistics, counter->finish());
  return CountedBlock{std::move(statistics), counter->take_names()};
}

// The rows of a block that was made or changed.
Status Writer::Impl::add_statistics(const Commitment& c, TableRows* rows) {
  if (c.grown) return {};
  const BlockState& block = state(c.id);
  const bool had_any = block.committed && !superblock_.statistics.absent();
  if (had_any && same_values(*block.committed, entry_of(c))) return {};
  const std::size_t before = rows->count();
  if (options_.statistics != StatisticsLevel::kNone) {
    NMB_ASSIGN(const CountedBlock counted, count_block(c));
    without_statistics_ += counted.not_computed();
    std::vector<std::byte> histogram;
    for (std::size_t v = 0; v < counted.names.size(); ++v) {
      const VariableStatistics& statistics = counted.statistics.variables[v];
      const std::size_t length = counted.names[v].size();
      if (statistics.computed && length > 0 && length <= kMostRowName)
        rows->add(statistics_row(counted.names[v], block.order, statistics, &histogram));
    }
  } else if (block.keeps_rows()) {
    block.packed->kept->add_to(PageUse::kStatistics, block.packed->kept_order, block.order, rows);
  }
  if (had_any && rows->count() == before) rows->add(TableRow::gone(block.order));
  return {};
}

// The rows of the newest trees that count, of all ranks, and with them this rank's: all of a block
// are one rank's then. The pages of the trees are dead.
Status Writer::Impl::take_trees(const BlockTable& table, std::span<const BlockTable::Tree> trees,
                                bool to_the_oldest, TableRows* rows) {
  std::vector<std::size_t> ages(rows->count());  // of the trees; 0: those of this generation
  const auto take = [&]() -> Status {
    const unsigned part = static_cast<unsigned>(ranks_.rank());
    for (std::size_t tree = 0; tree < trees.size(); ++tree)
      NMB_TRY(table.for_each_page(
          trees[tree], part, static_cast<unsigned>(ranks_.size()), [&](const Page& page) -> Status {
            NMB_TRY(check_may_change(page, *source_));
            replaced(page);
            for (std::uint32_t row = 0; row < page.rows(); ++row) {
              TableRow value;
              if (page.level() == 0) value = table_row_at(page, row);
              if (page.level() > 0 || value.state == TableRow::State::kBefore) {
                drop_later_places(page, row, *this);
                continue;
              }
              const auto unknown = page.unknown_values(row);
              value.unknown = unknown;
              rows->add(value);
              ages.push_back(tree + 1);
            }
            return {};
          }));
    return {};
  };
  NMB_TRY(ranks_.agree(take()));
  // To the rank that has the block, by order.
  Letters letters;
  for (std::size_t i = 0; i < rows->count(); ++i) {
    MessageWriter& out =
        letters.to(static_cast<int>((*rows)[i].order % static_cast<std::uint64_t>(ranks_.size())));
    out.put(ages[i]);
    TableRows::put(out, (*rows)[i]);
  }
  *rows = {};
  ages.clear();
  NMB_ASSIGN(const std::vector<Message> arrived, ranks_.exchange(letters.take()));
  std::unordered_map<std::uint64_t, std::size_t> newest;
  for (const Message& message : arrived)
    for (MessageReader in(message.bytes()); !in.at_end();) {
      ages.push_back(in.get<std::size_t>());
      rows->get(in);
      const auto [found, is_new] =
          newest.try_emplace((*rows)[rows->count() - 1].order, ages.back());
      if (!is_new) found->second = std::min(found->second, ages.back());
    }
  std::size_t i = 0;
  rows->keep_if([&](const TableRow& row) {
    const bool stays = newest.at(row.order) == ages[i++] &&
                       !(to_the_oldest && row.state == TableRow::State::kGone);
    if (!stays)
      for (const Place& place : later_places_of(row.unknown)) dropped(place);
    return stays;
  });
  return {};
}

// Collective.
Status Writer::Impl::write_statistics(const std::vector<Commitment>& blocks, Superblock& next) {
  const bool has_before = !superblock_.statistics.absent();
  TableRows rows;
  const auto count = [&]() -> Status {
    for (const Commitment& c : blocks) NMB_TRY(add_statistics(c, &rows));
    if (!has_before) return {};
    for (const BlockId id : dirty_)
      if (state(id).removed && state(id).committed)
        rows.add(TableRow::gone(state(id).committed->order));
    return {};
  };
  NMB_TRY(ranks_.agree(count()));
  return write_table(PageUse::kStatistics, kFeatureStatistics, std::move(rows), next);
}

// Those of blocks that were packed with some: tags of others stay as they are. Collective.
Status Writer::Impl::write_tags(const std::vector<Commitment>& blocks, Superblock& next) {
  TableRows rows;
  for (const Commitment& c : blocks) {
    const BlockState& block = state(c.id);
    if (block.keeps_rows())
      block.packed->kept->add_to(PageUse::kTags, block.packed->kept_order, block.order, &rows);
  }
  return write_table(PageUse::kTags, kFeatureTags, std::move(rows), next);
}

// Behind the index: a tree of these rows of all ranks, which leads to the trees before or takes
// them in. Nothing without rows. Collective.
Status Writer::Impl::write_table(PageUse use, std::uint64_t feature, TableRows rows,
                                 Superblock& next) {
  NMB_ASSIGN(std::uint64_t total, ranks_.all_reduce(std::uint64_t{rows.count()}, std::plus<>()));
  if (total == 0) return {};
  Place before;
  if (!table_place(superblock_, use).absent()) {
    const BlockTable table(*source_, superblock_, use);
    std::vector<BlockTable::Tree> trees;
    const auto open = [&]() -> Status {
      NMB_ASSIGN(trees, table.trees());
      return {};
    };
    NMB_TRY(ranks_.agree(open()));
    std::size_t taken = 0;
    for (; taken < trees.size() && has_at_most_twice(trees[taken].rows, total); ++taken)
      total += trees[taken].rows;
    const bool to_the_oldest = taken == trees.size();
    if (taken > 0) NMB_TRY(take_trees(table, std::span(trees).first(taken), to_the_oldest, &rows));
    if (!to_the_oldest) {
      const BlockTable::Tree& tree = trees[taken];
      before = {tree.place.position, tree.place.length, tree.root->sum()};
      if (ranks_.rank() == 0) rows.add(TableRow::before());
    }
  }
  // Where rank 0 has written the pages of the index that changed, it alone knows their end.
  NMB_ASSIGN(cursor_, ranks_.broadcast_value(0, cursor_));
  NMB_ASSIGN(const BuiltTable built,
             build_table(
                 ranks_, std::move(rows), before, use, cursor_,
                 [&](std::uint64_t position, std::span<const std::byte> pages) {
                   return stripes_.write_all(position, pages);
                 },
                 new_origin()));
  cursor_ = built.end;
  table_place(next, use) = built.place;
  if (built.place.absent())
    next.readonly_compatible &= ~feature;
  else
    next.readonly_compatible |= feature;
  return {};
}

}  // namespace nmb
