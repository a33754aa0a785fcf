// Commits: writes growth pages, and folds growth into data maps and index entries (spec/format.md,
// section 10.4; spec/rationale.md, "Growth").
#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "extent/needs.h"
#include "state/commit_steps.h"
#include "state/stored_blocks.h"
#include "superblock/page_chain.h"
#include "wire/endian.h"
#include "wire/hash.h"

namespace nmb {

namespace {

// Largest number of growth rows in a commit, because rank 0 must receive all rows of a growth page.
// A commit with more rows changes data maps and index entries instead.
constexpr std::uint64_t kMostRowsOfACommit = 1 << 17;

// Largest numbers of growth pages and growth rows in a file, because a reader reads all growth
// pages before it can read its first block.
constexpr std::uint64_t kMostPages = 512, kMostRows = 1 << 19;

// Returns the number of records with values in the first `end` bytes of the extent.
std::uint64_t records_until(const ClassicLayout& layout, std::uint64_t end, std::uint64_t most) {
  const std::uint64_t begin = layout.record_begin - layout.header_length;
  if (end <= begin || layout.record_size == 0) return 0;
  return std::min(most, (end - begin - 1) / layout.record_size + 1);
}

// Returns whether growth rows can describe all changes of a block.
bool may_grow(const WriterCore& w, const BlockCommit& c) {
  const BlockState& block = w.blocks[c.id];
  return c.appended && !c.rewritten && block.committed && is_classic(block.next.kind) &&
         w.options.statistics == StatisticsLevel::kNone &&
         (!c.pieces.empty() || block.next.records == block.committed->records) &&
         std::ranges::none_of(c.pieces, [](const Piece& piece) { return piece.hole; });
}

// Adds the block's growth rows and its new pieces to the block's data map and index entry.
Status append_to_extent(WriterCore& w, BlockCommit& c) {
  const BlockEntry& entry = *w.blocks[c.id].committed;
  NMB_ASSIGN(const std::span<const GrowthRow> rows,
             w.committed.reader->index().growth().rows_of(entry));
  if (rows.empty() && c.pieces.empty()) {
    keep_committed_extent(w, c);
    return {};
  }
  std::vector<Piece> pieces;
  const std::uint64_t settled = entry.settled_length();
  if (settled > 0 && entry.has_map()) {
    NMB_ASSIGN(c.edge, right_edge(w.committed.reader->map_of(entry), settled));
  } else if (settled > 0) {
    pieces.push_back({0, settled, entry.hole, entry.hole ? 0 : entry.extent_position,
                      entry.hole ? 0 : entry.extent_sum});
  }
  for (const GrowthRow& row : rows) pieces.push_back(row.piece);
  for (const Piece& piece : c.pieces) {
    if (piece.hole && !pieces.empty() && pieces.back().hole)
      pieces.back().length += piece.length;
    else
      pieces.push_back(piece);
  }
  c.pieces = std::move(pieces);
  if (c.edge.empty()) return describe_extent(w, c);
  c.needs = entry.needs & kNeedsOfValues;
  for (const Piece& piece : c.pieces) c.needs |= needs_of_piece(piece, false);
  return {};
}

// Folds the growth rows of one block. The growth rows stay if this version cannot change the block,
// or if the block's data map cannot be read.
Status fold_block(WriterCore& w, const BlockEntry& entry, std::vector<BlockCommit>& blocks) {
  Status status = w.committed.reader->check_needs(entry);
  BlockCommit c;
  if (status.ok()) {
    NMB_ASSIGN(const std::optional<BlockId> known, known_block(w, entry.name));
    if (known) {
      c.id = *known;
      NMB_TRY(check_id(w, c.id));
    } else {
      c.id = w.blocks.add(entry.name);
      w.blocks[c.id].take_entry(entry, w.committed.superblock.generation);
    }
    c.appended = true;
    status = append_to_extent(w, c);
  }
  if (status.ok())
    blocks.push_back(std::move(c));
  else if (status.code() == Code::kUnsupported || status.code() == Code::kDamaged)
    w.next.staying_growth.push_back({entry.order, entry.growth, entry.grown_records});
  else
    return status;
  return {};
}

// Folds the growth rows of all blocks to which this commit makes no other change. Each block is
// folded by one rank. Collective.
Status fold_growth(WriterCore& w, std::vector<BlockCommit>& blocks) {
  constexpr BlockId kNone = ~BlockId{0};
  struct FoldCandidate {
    std::uint64_t order;
    BlockId id;
    bool changes;  // true if the rank commits the block even without folding it
  };
  const std::uint64_t ranks = w.ranks.count();
  std::vector<std::uint64_t> orders;
  const auto owner_of = [&](std::uint64_t order) {
    const auto at = std::ranges::lower_bound(orders, order) - orders.begin();
    return static_cast<int>(static_cast<std::uint64_t>(at) * ranks / orders.size());
  };
  Outbox<FoldCandidate> known;
  const auto tell = [&]() -> Status {
    NMB_ASSIGN(const std::unordered_set<std::uint64_t>* const all,
               w.committed.reader->index().growth().orders());
    orders.assign(all->begin(), all->end());
    std::ranges::sort(orders);
    std::vector<bool> changes(w.blocks.size());
    for (const BlockId id : w.blocks.dirty) changes[id] = true;
    for (BlockId id = 0; id < w.blocks.size(); ++id) {
      const BlockState& block = w.blocks[id];
      if (!block.committed || block.committed->growth == 0) continue;
      const bool current =
          w.ranks.is_alone() || block.known_at == w.committed.superblock.generation;
      if (!changes[id] && (block.is_removed() || !current)) continue;
      known.add(owner_of(block.next.order), {block.next.order, id, changes[id]});
    }
    return {};
  };
  NMB_TRY(w.ranks.agree(tell()));
  NMB_ASSIGN(const Inbox<FoldCandidate> candidates, w.ranks.exchange(known));
  // The rank that folds the growth rows of a block: a rank that commits the block in any case, or
  // else the first rank that knows it. The rank that owns the block's order makes the choice.
  struct Chosen {
    int rank;
    FoldCandidate known;
  };
  std::map<std::uint64_t, Chosen> chosen;
  for (const std::uint64_t order : orders)
    if (owner_of(order) == w.ranks.own())
      chosen.emplace(order, Chosen{w.ranks.own(), {order, kNone, false}});
  for (const auto& [rank, one] : candidates) {
    Chosen& best = chosen.at(one.order);
    if (best.known.id == kNone || (one.changes && !best.known.changes)) best = {rank, one};
  }
  std::unordered_set<std::uint64_t> unknown;
  struct ToFold {
    BlockId id;
  };
  Outbox<ToFold> to_fold;
  for (const auto& [order, best] : chosen) {
    if (best.known.id == kNone)
      unknown.insert(order);
    else if (!best.known.changes)
      to_fold.add(best.rank, {best.known.id});
  }
  NMB_ASSIGN(const Inbox<ToFold> answers, w.ranks.exchange(to_fold));
  const auto fold = [&]() -> Status {
    for (const auto& [owner, block] : answers)
      NMB_TRY(fold_block(w, BlockEntry(*w.blocks[block.id].committed), blocks));
    std::vector<BlockEntry> found;
    if (!unknown.empty())
      NMB_TRY(
          w.committed.reader->index().for_each({}, [&](const BlockEntry& entry) -> Result<bool> {
            if (unknown.contains(entry.order)) found.push_back(entry);
            return found.size() < unknown.size();
          }));
    for (const BlockEntry& entry : found) NMB_TRY(fold_block(w, entry, blocks));
    return {};
  };
  return w.ranks.agree(fold());
}

Status write_growth_page(WriterCore& w, const PageBuilder& page) {
  Superblock& next = w.next.superblock;
  std::vector<std::byte> bytes;
  NMB_ASSIGN(const Place place, write_page(w.next, page, w.new_origin(), 0, &bytes));
  next.growth = {place.position, place.length, sum_of(bytes)};
  next.readonly_compatible |= kFeatureGrowth;
  ++w.committed.growth_pages;
  w.committed.growth_rows += page.rows();
  return {};
}

}  // namespace

Status choose_growth(WriterCore& w, std::vector<BlockCommit>& blocks, bool with_view,
                     const Status& status) {
  const bool first = w.committed.superblock.generation == 0;
  const std::uint64_t from = first ? kBodyStart : w.committed.superblock.file_length;
  struct Facts {
    std::uint64_t cursor, sums, rows, chain_pages, chain_rows;
    bool fold, others;
  } mine{w.next.cursor, 0, 0, w.committed.growth_pages, w.committed.growth_rows, false, first};
  for (BlockCommit& c : blocks) {
    for (const Piece& piece : c.pieces)
      if (!piece.hole && piece.file == 0 && piece.position >= from) mine.sums += piece.sum;
    if (c.pieces.empty() && c.map.absent() && c.extent_position >= from) mine.sums += c.extent_sum;
    c.grown = may_grow(w, c);
    const BlockState& block = w.blocks[c.id];
    mine.rows += c.grown ? c.pieces.size() : 0;
    mine.others = mine.others || !c.grown;
    mine.fold = mine.fold || (!c.grown && block.committed && block.committed->growth != 0);
  }
  for (const StoredOriginal& original : w.next.originals) {
    mine.others = true;
    for (const Piece& piece : original.pieces) mine.sums += piece.sum;
  }
  for (const BlockId id : w.blocks.dirty) {
    const BlockState& block = w.blocks[id];
    if (!block.is_removed() || !block.committed) continue;
    mine.others = true;
    mine.fold = mine.fold || block.committed->growth != 0;
  }
  NMB_ASSIGN(const Facts all, w.ranks.agree_and_combine(status, mine, [](Facts a, Facts b) {
    return Facts{std::max(a.cursor, b.cursor),
                 a.sums + b.sums,
                 a.rows + b.rows,
                 a.chain_pages + b.chain_pages,
                 a.chain_rows + b.chain_rows,
                 a.fold || b.fold,
                 a.others || b.others};
  }));
  w.next.cursor = all.cursor;
  w.next.stamp = all.sums;
  const bool has_chain = !w.committed.superblock.growth.absent();
  const bool counts = w.options.statistics != StatisticsLevel::kNone;
  const bool too_many =
      all.rows > kMostRowsOfACommit ||
      (all.rows > 0 && (all.chain_pages >= kMostPages || all.chain_rows + all.rows > kMostRows));
  w.next.folds_growth =
      all.fold || too_many || (has_chain && counts) || ((has_chain || all.rows > 0) && with_view);
  w.next.changes_entries = all.others || w.next.folds_growth;
  if (!w.next.changes_entries) return {};
  const auto append = [&]() -> Status {
    for (BlockCommit& c : blocks) {
      if (w.next.folds_growth) c.grown = false;
      if (c.appended && !c.grown) NMB_TRY(append_to_extent(w, c));
    }
    return {};
  };
  NMB_TRY(w.ranks.agree(append()));
  return w.next.folds_growth && has_chain ? fold_growth(w, blocks) : Status();
}

Status replace_growth(WriterCore& w) {
  if (!w.next.folds_growth || w.committed.superblock.growth.absent()) return {};
  Superblock& next = w.next.superblock;
  Outbox<StayingGrowth> stays;
  for (const StayingGrowth& block : w.next.staying_growth) stays.add(0, block);
  NMB_ASSIGN(const Inbox<StayingGrowth> arrived, w.ranks.exchange(stays));
  next.growth = {};
  next.readonly_compatible &= ~kFeatureGrowth;
  const auto replace = [&]() -> Status {
    std::map<std::uint64_t, StayingGrowth> staying;  // by the order of the block
    for (const auto& [rank, block] : arrived) staying.emplace(block.order, block);
    const Growth& growth = w.committed.reader->index().growth();
    NMB_ASSIGN(const std::span<const std::shared_ptr<const Page>> pages, growth.pages());
    for (const auto& old : pages) {
      w.next.replaced(*old);
      if (!old->has_unknown()) continue;
      for (std::uint32_t row = page_before(*old) ? 1 : 0; row < old->rows(); ++row)
        if (!staying.contains(old->value(row, kOrder))) drop_later_places(*old, row, w.next);
    }
    w.committed.growth_pages = w.committed.growth_rows = 0;
    PageBuilder page(PageUse::kGrowth, 0);
    for (const auto& [order, block] : staying) {
      next.totals.records += block.grown_records;
      BlockEntry entry;
      entry.order = order;
      entry.growth = block.growth;
      NMB_ASSIGN(const std::span<const GrowthRow> rows, growth.rows_of(entry));
      for (const GrowthRow& row : rows) {
        page.add_row();
        for (const Column column :
             {kOrder, kRecords, kLogicalOffset, kCodec, kPosition, kStoredLength, kRawLength, kSum})
          page.set(column, row.page->value(row.row, column));
        page.keep(row.page->unknown_values(row.row));
      }
    }
    return page.rows() == 0 ? Status() : write_growth_page(w, page);
  };
  return w.ranks.first(replace);
}

NewGrowth growth_of(const WriterCore& w, const std::vector<BlockCommit>& blocks) {
  NewGrowth growth;
  for (const BlockCommit& c : blocks) {
    if (!c.grown || c.pieces.empty()) continue;
    const BlockState& block = w.blocks[c.id];
    std::uint64_t records = block.committed->records;
    growth.records += block.next.records - records;
    for (const Piece& piece : c.pieces) {
      records =
          &piece == &c.pieces.back()
              ? block.next.records
              : std::max(records, records_until(block.layout, piece.end(), block.next.records));
      growth.rows.push_back(
          {block.next.order, records, piece.logical, piece.length, piece.position, piece.sum});
    }
  }
  return growth;
}

Status write_growth(WriterCore& w, NewGrowth growth) {
  Superblock& next = w.next.superblock;
  std::vector<NewGrowthRow>& rows = growth.rows;
  next.totals.records += growth.records;
  if (rows.empty()) return {};
  std::ranges::sort(rows, {},
                    [](const NewGrowthRow& row) { return std::pair(row.order, row.logical); });
  PageBuilder page(PageUse::kGrowth, 0);
  if (!next.growth.absent()) {
    std::byte sum[8];
    NMB_TRY(w.buffer.read_at(next.growth.position + kPageSumOffset, sum));
    page.add_row();
    page.set(kState, kStatePageBefore);
    page.set(kPosition, next.growth.position);
    page.set(kStoredLength, next.growth.length);
    page.set(kSum, load_le<std::uint64_t>(sum));
  }
  for (const NewGrowthRow& row : rows) {
    page.add_row();
    page.set(kOrder, row.order);
    page.set(kRecords, row.records);
    page.set(kLogicalOffset, row.logical);
    page.set(kPosition, row.position);
    page.set(kStoredLength, row.length);
    page.set(kRawLength, row.length);
    page.set(kSum, row.sum);
  }
  return write_growth_page(w, page);
}

}  // namespace nmb
