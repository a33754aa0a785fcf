// Commits: writes the statistics and tags of blocks (spec/tables.md, sections 9.2 to 9.4). Values
// that the commit copies are counted while they are copied; other values are read again.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "commit/statistics_counting.h"
#include "model/name_rules.h"
#include "state/commit_steps.h"
#include "table/block_table.h"
#include "table/kept_rows.h"
#include "table/statistics_row.h"
#include "table/table_build.h"
#include "table/tag_row.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Returns rows <= 2 * total, without overflow.
bool has_at_most_twice(std::uint64_t rows, std::uint64_t total) {
  return rows <= total || rows - total <= total;
}

// Adds the statistics rows of a new or changed block to `rows`.
Status add_statistics(WriterCore& w, const BlockCommit& c, TableRows* rows) {
  if (c.grown) return {};
  const BlockState& block = w.blocks[c.id];
  const bool had_any = block.committed && !w.committed.superblock.statistics.absent();
  if (had_any && same_values(*block.committed, entry_of(w, c))) return {};
  const std::size_t before = rows->count();
  if (w.options.statistics != StatisticsLevel::kNone) {
    NMB_ASSIGN(const NamedStatistics counted, count_block(w, c.id));
    w.without_statistics += counted.not_computed();
    for (std::size_t v = 0; v < counted.names.size(); ++v) {
      const VariableStatistics& statistics = counted.statistics.variables[v];
      if (!statistics.computed) continue;
      for (const FunctionResult& result : statistics.functions)
        NMB_TRY(
            check_text(result.value, joined_text("function ", in_quotes(result.function),
                                                 " of variable ", in_quotes(counted.names[v]),
                                                 " in block ", in_quotes(w.blocks.name(c.id)))));
      add_statistics_rows(counted.names[v], block.next.order, statistics, rows);
    }
    if (block.keeps_rows())
      block.packed()->kept->add_to(PageUse::kStatistics, block.packed()->kept_order,
                                   block.next.order, rows, [&](const TableRow& row) {
                                     const StatisticsName name = statistics_name(row.name);
                                     return name.kind == StatisticsName::Kind::kFunction &&
                                            std::ranges::find(w.options.functions, name.function,
                                                              &ValueFunction::name) ==
                                                w.options.functions.end();
                                   });
  } else if (block.keeps_rows()) {
    block.packed()->kept->add_to(PageUse::kStatistics, block.packed()->kept_order, block.next.order,
                                 rows);
  }
  if (had_any && rows->count() == before) rows->add(TableRow::gone(block.next.order));
  return {};
}

// Reads the rows of `trees` and adds them to this rank's `rows`. The ranks exchange rows, so that
// all rows of a block are on one rank. For each block, only the newest rows stay. The pages of the
// trees become dead.
Status take_trees(WriterCore& w, const BlockTable& table, std::span<const BlockTable::Tree> trees,
                  bool to_the_oldest, TableRows* rows) {
  // The age of each row: 0 for rows of this generation, i + 1 for rows of trees[i].
  std::vector<std::size_t> ages(rows->count());
  const auto take = [&]() -> Status {
    const unsigned part = static_cast<unsigned>(w.ranks.own());
    for (std::size_t tree = 0; tree < trees.size(); ++tree)
      NMB_TRY(table.for_each_page(trees[tree], part, static_cast<unsigned>(w.ranks.count()),
                                  [&](const Page& page) -> Status {
                                    NMB_TRY(check_may_change(page, *w.committed.source));
                                    w.next.replaced(page);
                                    for (std::uint32_t row = 0; row < page.rows(); ++row) {
                                      TableRow value;
                                      if (page.level() == 0) value = table_row_at(page, row);
                                      if (page.level() > 0 ||
                                          value.state == TableRow::State::kBefore) {
                                        drop_later_places(page, row, w.next);
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
  NMB_TRY(w.ranks.agree(take()));
  // Sends each row to a rank that is chosen by the order of the row's block, so that one rank
  // receives all rows of a block.
  Outbox<std::pair<std::size_t, SentRow>> sent;
  for (std::size_t i = 0; i < rows->count(); ++i)
    sent.add(static_cast<int>((*rows)[i].order % w.ranks.count()), {ages[i], (*rows)[i]});
  *rows = {};
  ages.clear();
  NMB_ASSIGN(const auto arrived, w.ranks.exchange(sent));
  std::unordered_map<std::uint64_t, std::size_t> newest;
  for (const auto& [rank, aged] : arrived) {
    const auto& [age, row] = aged;
    ages.push_back(age);
    rows->add(row.row());
    const auto [found, is_new] = newest.try_emplace(row.row().order, age);
    if (!is_new) found->second = std::min(found->second, age);
  }
  std::size_t i = 0;
  rows->keep_if([&](const TableRow& row) {
    const bool stays = newest.at(row.order) == ages[i++] &&
                       !(to_the_oldest && row.state == TableRow::State::kGone);
    if (!stays)
      for (const Place& place : later_places_of(row.unknown)) w.next.dropped(place);
    return stays;
  });
  return {};
}

// Writes a tree with the rows of all ranks to the file, after the index. If the newest committed
// trees are small, the new tree takes over their rows. The new tree refers to the newest tree that
// stays. Does nothing if no rank has rows. Collective.
Status write_table(WriterCore& w, PageUse use, std::uint64_t feature, TableRows rows) {
  Superblock& next = w.next.superblock;
  NMB_ASSIGN(std::uint64_t total, w.ranks.sum(std::uint64_t{rows.count()}));
  if (total == 0) return {};
  Place before;
  if (!table_place(w.committed.superblock, use).absent()) {
    const BlockTable table(*w.committed.source, w.committed.superblock, use);
    std::vector<BlockTable::Tree> trees;
    const auto open = [&]() -> Status {
      NMB_ASSIGN(trees, table.trees());
      return {};
    };
    NMB_TRY(w.ranks.agree(open()));
    std::size_t taken = 0;
    for (; taken < trees.size() && has_at_most_twice(trees[taken].rows, total); ++taken)
      total += trees[taken].rows;
    const bool to_the_oldest = taken == trees.size();
    if (taken > 0)
      NMB_TRY(take_trees(w, table, std::span(trees).first(taken), to_the_oldest, &rows));
    if (!to_the_oldest) {
      const BlockTable::Tree& tree = trees[taken];
      before = {tree.place.position, tree.place.length, tree.root->sum()};
      if (w.ranks.is_first()) rows.add(TableRow::before());
    }
  }
  // If rank 0 has written a growth page, only rank 0 knows where the page ends.
  NMB_ASSIGN(w.next.cursor, w.ranks.from_first(w.next.cursor));
  NMB_ASSIGN(const BuiltTable built,
             build_table(
                 w.ranks.communicator(), std::move(rows), before, use, w.next.cursor,
                 [&](std::uint64_t position, std::span<const std::byte> pages) {
                   return w.stripes.write_all(position, pages);
                 },
                 w.new_origin()));
  w.next.cursor = built.end;
  table_place(next, use) = built.place;
  if (built.place.absent())
    next.readonly_compatible &= ~feature;
  else
    next.readonly_compatible |= feature;
  return {};
}

}  // namespace

Status write_statistics(WriterCore& w, const std::vector<BlockCommit>& blocks) {
  const bool has_before = !w.committed.superblock.statistics.absent();
  TableRows rows;
  const auto count = [&]() -> Status {
    for (const BlockCommit& c : blocks) NMB_TRY(add_statistics(w, c, &rows));
    if (!has_before) return {};
    for (const BlockId id : w.blocks.dirty)
      if (w.blocks[id].is_removed() && w.blocks[id].committed)
        rows.add(TableRow::gone(w.blocks[id].committed->order));
    return {};
  };
  NMB_TRY(w.ranks.agree(count()));
  return write_table(w, PageUse::kStatistics, kFeatureStatistics, std::move(rows));
}

Status write_tags(WriterCore& w, const std::vector<BlockCommit>& blocks) {
  TableRows rows;
  for (const BlockCommit& c : blocks) {
    const BlockState& block = w.blocks[c.id];
    const std::vector<NewTag>& tags = w.tags.of(c.id);
    for (const Tag& tag : tags) rows.add(tag_row(tag, block.next.order));
    if (block.keeps_rows())
      block.packed()->kept->add_to(PageUse::kTags, block.packed()->kept_order, block.next.order,
                                   &rows, [&](const TableRow& row) {
                                     return std::ranges::find(tags, row.name, &Tag::name) ==
                                            tags.end();
                                   });
  }
  return write_table(w, PageUse::kTags, kFeatureTags, std::move(rows));
}

}  // namespace nmb
