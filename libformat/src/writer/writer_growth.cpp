// Commits: growth pages, and taking them into maps and entries (spec/format.md, section 10.4;
// spec/rationale.md, "Growth").
#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "extent/needs.h"
#include "page/page_chain.h"
#include "parallel/letters.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "writer/writer_impl.h"

namespace nmb {

namespace {

// A reader reads all pages and rows of them before it knows its first block.
constexpr std::uint64_t kMostPages = 512, kMostRows = 1 << 19;

// A row of the new page, as ranks tell it.
struct NewGrowthRow {
  std::uint64_t order, records, logical, length, position, sum;
};

// How many records have values in the extent's first `end` bytes.
std::uint64_t records_until(const ClassicLayout& layout, std::uint64_t end, std::uint64_t most) {
  const std::uint64_t begin = layout.record_begin - layout.header_length;
  if (end <= begin || layout.record_size == 0) return 0;
  return std::min(most, (end - begin - 1) / layout.record_size + 1);
}

}  // namespace

// Pages that a commit may continue, or take in, must be such that this version reads them.
Status Writer::Impl::check_growth_chain() {
  growth_pages_ = growth_rows_ = 0;
  const Growth& growth = core_->index().growth();
  if (growth.absent()) return {};
  NMB_ASSIGN(const std::span<const std::shared_ptr<const Page>> pages, growth.pages());
  for (const auto& page : pages) {
    NMB_TRY(check_may_change(*page, *source_));
    growth_rows_ += page->rows();
  }
  growth_pages_ = pages.size();
  return {};
}

// Whether rows of a growth page say all that has changed of a block.
bool Writer::Impl::may_grow(const Commitment& c) const {
  const BlockState& block = *blocks_[c.id];
  return c.appended && !c.rewritten && block.committed && is_classic(block.kind) &&
         options_.statistics == StatisticsLevel::kNone &&
         (!c.pieces.empty() || block.records == block.committed->records) &&
         std::ranges::none_of(c.pieces, [](const Piece& piece) { return piece.hole; });
}

// Collective: the stamp of the generation (spec/format.md, section 5.1), and what of it goes to
// growth pages. Afterwards it is known what becomes of every block's extent.
Status Writer::Impl::choose_growth(std::vector<Commitment>& blocks, bool with_view) {
  const bool first = superblock_.generation == 0;
  const std::uint64_t from = first ? kBodyStart : superblock_.file_length;
  struct Facts {
    std::uint64_t sums, rows, chain_pages, chain_rows;
    bool fold, others;
  } mine{0, 0, growth_pages_, growth_rows_, false, first};
  for (Commitment& c : blocks) {
    for (const Piece& piece : c.pieces)
      if (!piece.hole && piece.file == 0 && piece.position >= from) mine.sums += piece.sum;
    if (c.pieces.empty() && c.map.absent() && c.extent_position >= from) mine.sums += c.extent_sum;
    c.grown = may_grow(c);
    const BlockState& block = state(c.id);
    mine.rows += c.grown ? c.pieces.size() : 0;
    mine.others = mine.others || !c.grown;
    mine.fold = mine.fold || (!c.grown && block.committed && block.committed->growth != 0);
  }
  for (const BlockId id : dirty_) {
    const BlockState& block = state(id);
    if (!block.removed || !block.committed) continue;
    mine.others = true;
    mine.fold = mine.fold || block.committed->growth != 0;
  }
  NMB_ASSIGN(const Facts all, ranks_.all_reduce(mine, [](Facts a, Facts b) {
    return Facts{a.sums + b.sums,
                 a.rows + b.rows,
                 a.chain_pages + b.chain_pages,
                 a.chain_rows + b.chain_rows,
                 a.fold || b.fold,
                 a.others || b.others};
  }));
  stamp_ = all.sums;
  const bool has_chain = !superblock_.growth.absent();
  const bool counts = options_.statistics != StatisticsLevel::kNone;
  const bool too_many =
      all.rows > 0 && (all.chain_pages >= kMostPages || all.chain_rows + all.rows > kMostRows);
  commit_.fold =
      all.fold || too_many || (has_chain && counts) || ((has_chain || all.rows > 0) && with_view);
  commit_.others = all.others || commit_.fold;
  if (!commit_.others) return {};
  const auto append = [&]() -> Status {
    for (Commitment& c : blocks) {
      if (commit_.fold) c.grown = false;
      if (c.appended && !c.grown) NMB_TRY(append_to_extent(c));
    }
    return {};
  };
  NMB_TRY(ranks_.agree(append()));
  return commit_.fold && has_chain ? fold_growth(blocks) : Status();
}

// Map and entry take in growth rows that the block has, and the pieces behind.
Status Writer::Impl::append_to_extent(Commitment& c) {
  const BlockEntry& entry = *state(c.id).committed;
  NMB_ASSIGN(const std::span<const GrowthRow> rows, core_->index().growth().rows_of(entry));
  if (rows.empty() && c.pieces.empty()) {
    keep_committed_extent(c);
    return {};
  }
  std::vector<Piece> pieces;
  const std::uint64_t settled = entry.settled_length();
  if (settled > 0 && entry.has_map()) {
    NMB_ASSIGN(c.edge, right_edge(core_->map_of(entry), settled));
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
  if (c.edge.empty()) return describe_extent(c);
  c.needs = entry.needs & kNeedsOfValues;
  for (const Piece& piece : c.pieces) c.needs |= needs_of_piece(piece, false);
  return {};
}

// Collective: blocks with growth rows that this commit does not change otherwise, each by one rank.
Status Writer::Impl::fold_growth(std::vector<Commitment>& blocks) {
  constexpr BlockId kNone = ~BlockId{0};
  struct Known {
    std::uint64_t order;
    BlockId id;
    bool changes;  // the rank commits the block anyway
  };
  const auto ranks = static_cast<std::uint64_t>(ranks_.size());
  std::vector<std::uint64_t> orders;
  const auto owner_of = [&](std::uint64_t order) {
    const auto at = std::ranges::lower_bound(orders, order) - orders.begin();
    return static_cast<int>(static_cast<std::uint64_t>(at) * ranks / orders.size());
  };
  Letters letters;
  const auto tell = [&]() -> Status {
    NMB_ASSIGN(const std::unordered_set<std::uint64_t>* const all,
               core_->index().growth().orders());
    orders.assign(all->begin(), all->end());
    std::ranges::sort(orders);
    std::vector<bool> changes(blocks_.size());
    for (const BlockId id : dirty_) changes[id] = true;
    for (BlockId id = 0; id < blocks_.size(); ++id) {
      const BlockState& block = state(id);
      if (!block.committed || block.committed->growth == 0) continue;
      const bool current = ranks_.size() == 1 || block.known_at == superblock_.generation;
      if (!changes[id] && (block.removed || !current)) continue;
      letters.to(owner_of(block.order)).put(Known{block.order, id, changes[id]});
    }
    return {};
  };
  NMB_TRY(ranks_.agree(tell()));
  NMB_ASSIGN(const std::vector<Message> told, ranks_.exchange(letters.take()));
  // Of each block of this rank's part: the rank that commits it, else the first that knows it.
  struct Chosen {
    int rank;
    Known known;
  };
  std::map<std::uint64_t, Chosen> chosen;
  for (const std::uint64_t order : orders)
    if (owner_of(order) == ranks_.rank())
      chosen.emplace(order, Chosen{ranks_.rank(), {order, kNone, false}});
  for (const Message& message : told) {
    for (MessageReader in(message.bytes()); !in.at_end();) {
      const auto one = in.get<Known>();
      Chosen& best = chosen.at(one.order);
      if (best.known.id == kNone || (one.changes && !best.known.changes))
        best = {message.from(), one};
    }
  }
  std::unordered_map<std::uint64_t, BlockEntry> unknown;
  for (const auto& [order, best] : chosen) {
    if (best.known.id == kNone)
      unknown.emplace(order, BlockEntry());
    else if (!best.known.changes)
      letters.to(best.rank).put(best.known.id);
  }
  NMB_ASSIGN(const std::vector<Message> answers, ranks_.exchange(letters.take()));
  const auto fold = [&]() -> Status {
    for (const Message& message : answers)
      for (MessageReader in(message.bytes()); !in.at_end();)
        NMB_TRY(fold_block(BlockEntry(*state(in.get<BlockId>()).committed), blocks));
    std::vector<BlockEntry> found;
    if (!unknown.empty())
      NMB_TRY(core_->index().for_each({}, [&](const BlockEntry& entry) -> Result<bool> {
        if (unknown.contains(entry.order)) found.push_back(entry);
        return found.size() < unknown.size();
      }));
    for (const BlockEntry& entry : found) NMB_TRY(fold_block(entry, blocks));
    return {};
  };
  return ranks_.agree(fold());
}

// Rows of a block that this version cannot change, or whose map cannot be read, stay rows.
Status Writer::Impl::fold_block(const BlockEntry& entry, std::vector<Commitment>& blocks) {
  Status status = core_->check_needs(entry);
  Commitment c;
  if (status.ok()) {
    if (const std::optional<std::uint32_t> id = names_.find(entry.name)) {
      c.id = *id;
      NMB_TRY(refresh(c.id));
    } else {
      c.id = add_block(entry.name);
      take_entry(c.id, entry);
    }
    c.appended = true;
    status = append_to_extent(c);
  }
  if (status.ok())
    blocks.push_back(std::move(c));
  else if (status.code() == Code::kUnsupported || status.code() == Code::kDamaged)
    staying_growth_.push_back({entry.order, entry.growth, entry.grown_records});
  else
    return status;
  return {};
}

// Collective: where growth was folded, one page of the rows that stay takes the place of all pages.
Status Writer::Impl::replace_growth(Superblock& next) {
  if (!commit_.fold || superblock_.growth.absent()) return {};
  Letters letters;
  if (!staying_growth_.empty()) letters.to(0).put_raw(std::as_bytes(std::span(staying_growth_)));
  NMB_ASSIGN(const std::vector<Message> arrived, ranks_.exchange(letters.take()));
  next.growth = {};
  next.readonly_compatible &= ~kFeatureGrowth;
  const auto replace = [&]() -> Status {
    std::map<std::uint64_t, StayingGrowth> staying;  // by order
    for (const Message& message : arrived)
      for (MessageReader in(message.bytes()); !in.at_end();) {
        const auto block = in.get<StayingGrowth>();
        staying.emplace(block.order, block);
      }
    const Growth& growth = core_->index().growth();
    NMB_ASSIGN(const std::span<const std::shared_ptr<const Page>> pages, growth.pages());
    for (const auto& old : pages) {
      replaced(*old);
      if (!old->has_unknown()) continue;
      for (std::uint32_t row = page_before(*old) ? 1 : 0; row < old->rows(); ++row)
        if (!staying.contains(old->value(row, kOrder))) drop_later_places(*old, row, *this);
    }
    growth_pages_ = growth_rows_ = 0;
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
    return page.rows() == 0 ? Status() : write_growth_page(page, next);
  };
  return ranks_.agree(ranks_.rank() == 0 ? replace() : Status());
}

Status Writer::Impl::write_growth_page(const PageBuilder& page, Superblock& next) {
  std::vector<std::byte> bytes;
  NMB_ASSIGN(const Place place, write_page(*this, page, new_origin(), 0, &bytes));
  next.growth = {place.position, place.length, sum_of(bytes)};
  next.readonly_compatible |= kFeatureGrowth;
  ++growth_pages_;
  growth_rows_ += page.rows();
  return {};
}

// For rank 0: the rows of blocks that this rank keeps.
void Writer::Impl::put_growth(const std::vector<Commitment>& blocks, MessageWriter& out) const {
  std::vector<NewGrowthRow> rows;
  std::uint64_t grown_records = 0;
  for (const Commitment& c : blocks) {
    if (!c.grown || c.pieces.empty()) continue;
    const BlockState& block = *blocks_[c.id];
    std::uint64_t records = block.committed->records;
    grown_records += block.records - records;
    for (const Piece& piece : c.pieces) {
      records = &piece == &c.pieces.back()
                    ? block.records
                    : std::max(records, records_until(block.layout, piece.end(), block.records));
      rows.push_back(
          {block.order, records, piece.logical, piece.length, piece.position, piece.sum});
    }
  }
  // Short, as one rank gets those of all.
  out.put_small(grown_records);
  out.put_small(rows.size());
  for (const NewGrowthRow& row : rows) {
    for (const std::uint64_t field :
         {row.order, row.records, row.logical, row.length, row.position})
      out.put_small(field);
    out.put(row.sum);
  }
}

// By rank 0: what all ranks have put.
Status Writer::Impl::write_growth(std::span<MessageReader> told, Superblock& next) {
  std::vector<NewGrowthRow> rows;
  for (MessageReader& in : told) {
    next.totals.records += in.get_small();
    for (std::uint64_t left = in.get_small(); left > 0; --left) {
      NewGrowthRow& row = rows.emplace_back();
      for (std::uint64_t* const field :
           {&row.order, &row.records, &row.logical, &row.length, &row.position})
        *field = in.get_small();
      row.sum = in.get<std::uint64_t>();
    }
  }
  if (rows.empty()) return {};
  std::ranges::sort(rows, [](const NewGrowthRow& a, const NewGrowthRow& b) {
    return std::pair(a.order, a.logical) < std::pair(b.order, b.logical);
  });
  PageBuilder page(PageUse::kGrowth, 0);
  if (!next.growth.absent()) {
    std::byte sum[8];
    NMB_TRY(buffer_.read_at(next.growth.position + kPageSumOffset, sum));
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
  return write_growth_page(page, next);
}

}  // namespace nmb
