#include "extent/growth.h"

#include <string>
#include <utility>

#include "superblock/page_chain.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr std::uint64_t kMaxEnd = ~std::uint64_t{0} >> 1;  // 2^63 - 1

std::uint32_t first_growth_row(const Page& page) { return page_before(page) ? 1 : 0; }

bool ends_within_limits(const Piece& piece) {
  return piece.logical <= kMaxEnd && piece.length <= kMaxEnd - piece.logical;
}

}  // namespace

std::uint32_t check_growth_page(const Page& page, Findings& findings) {
  const std::uint32_t first = first_growth_row(page);
  const auto not_ascending = [&](std::uint32_t row) {
    findings.report({"R-GR-1", page.value_offset(row, kOrder), "growth page",
                     joined_text("order ", page.value(row, kOrder), ", logical offset ",
                                 page.value(row, kLogicalOffset)),
                     "greater values than in the row before"});
  };
  if (is_endless(page, {kOrder, kLogicalOffset}) && page.rows() - first > 1) {
    not_ascending(first + 1);
    return first;
  }
  std::pair<std::uint64_t, std::uint64_t> before;
  for (std::uint32_t row = first; row < page.rows(); ++row) {
    if (page.value(row, kState) != 0) return row;  // R-PG-9 reports other states
    const std::pair key(page.value(row, kOrder), page.value(row, kLogicalOffset));
    if (row > first && key <= before) not_ascending(row);
    before = key;
  }
  return page.rows();
}

bool add_growth_page(const std::shared_ptr<const Page>& page, GrowthRows* rows,
                     Findings& findings) {
  const std::uint32_t end = check_growth_page(*page, findings);
  for (std::uint32_t row = first_growth_row(*page); row < end; ++row)
    (*rows)[page->value(row, kOrder)].push_back(
        {piece_at(*page, row), page->value(row, kRecords), page, row});
  return end == page->rows();
}

void check_growth_of(const BlockEntry& entry, std::span<const GrowthRow> rows,
                     std::uint32_t piece_size, Findings& findings) {
  std::uint64_t end = entry.extent_length, records = entry.records;
  for (const GrowthRow& row : rows) {
    const auto report = [&](const char* rule, Column column, std::string found,
                            std::string expected) {
      findings.report({rule, row.at(column), "growth of block \"" + entry.name + "\"",
                       std::move(found), std::move(expected)});
    };
    if (row.piece.logical != end)
      report("R-GR-2", kLogicalOffset, joined_text("logical offset ", row.piece.logical),
             joined_text(end, ", where the earlier values end"));
    if (row.records < records)
      report("R-GR-7", kRecords, joined_text(row.records, " records"),
             joined_text("at least ", records));
    records = row.records;
    if (row.piece.length == 0) report("R-GR-3", kRawLength, "raw length 0", "at least 1");
    if (!ends_within_limits(row.piece)) {
      report("R-GR-6", kRawLength, "a piece that ends after 2^63 - 1",
             "an end of at most 2^63 - 1");
      end = kMaxEnd;
      continue;
    }
    check_piece_lengths(*row.page, row.row, row.piece, piece_size, findings, "R-GR-3");
    end = row.piece.end();
  }
}

void grow(BlockEntry* entry, std::span<const GrowthRow> rows) {
  const GrowthRow& last = rows.back();
  if (last.records > entry->records) {
    entry->grown_records = last.records - entry->records;
    entry->records = last.records;
  }
  const std::uint64_t end = ends_within_limits(last.piece) ? last.piece.end() : kMaxEnd;
  if (end > entry->extent_length) {
    entry->growth = end - entry->extent_length;
    entry->extent_length = end;
  }
}

Status Growth::load() const {
  const std::lock_guard lock(mutex_);
  if (loaded_) return {};
  const Page* const known = pages_.empty() ? nullptr : pages_.back().get();
  NMB_ASSIGN(std::vector<std::shared_ptr<const Page>> pages,
             read_page_chain(file_, superblock_, PageUse::kGrowth, superblock_.growth,
                             kMaxGrowthPages - pages_.size(), known));
  const std::optional<Place> before =
      pages.empty() ? superblock_.growth : page_before(*pages.front());
  if (known && !(before && before->position == known->position())) {
    pages_.clear();
    orders_.clear();
  }
  FirstFinding first;
  for (const auto& page : pages) {
    check_growth_page(*page, first);
    NMB_TRY(first.status(file_.name()));
  }
  for (auto& page : pages) {
    for (std::uint32_t row = first_growth_row(*page); row < page->rows(); ++row) {
      const std::uint64_t order = page->value(row, kOrder);
      if (!checked_.empty()) checked_.erase(order);
      // Blocks that grow together have the same row numbers in many consecutive pages. So this test
      // avoids most insertions of orders that are already in the set.
      const Page* const last = pages_.empty() ? nullptr : pages_.back().get();
      if (!last || row >= last->rows() || last->value(row, kOrder) != order || row == 0)
        orders_.insert(order);
    }
    pages_.push_back(std::move(page));
  }
  loaded_ = true;
  return {};
}

std::vector<GrowthRow> Growth::gather(std::uint64_t order) const {
  std::vector<GrowthRow> rows;
  for (const auto& page : pages_) {
    std::uint32_t row = first_growth_row(*page);
    for (std::uint32_t end = page->rows(); row < end;) {
      const std::uint32_t middle = row + (end - row) / 2;
      if (page->value(middle, kOrder) < order)
        row = middle + 1;
      else
        end = middle;
    }
    for (; row < page->rows() && page->value(row, kOrder) == order; ++row)
      rows.push_back({piece_at(*page, row), page->value(row, kRecords), page, row});
  }
  return rows;
}

Result<std::span<const std::shared_ptr<const Page>>> Growth::pages() const {
  NMB_TRY(load());
  return std::span<const std::shared_ptr<const Page>>(pages_);
}

Result<const std::unordered_set<std::uint64_t>*> Growth::orders() const {
  NMB_TRY(load());
  return &orders_;
}

void Growth::continue_from(Growth& before) {
  if (absent()) return;
  pages_ = std::move(before.pages_);
  orders_ = std::move(before.orders_);
  checked_ = std::move(before.checked_);
}

Status Growth::add_to(BlockEntry* entry) const {
  if (absent()) return {};
  NMB_TRY(load());
  if (!orders_.contains(entry->order)) return {};
  const std::vector<GrowthRow> rows = gather(entry->order);
  if (!(entry->needs & ~kKnownNeeds)) {
    const std::lock_guard lock(mutex_);
    if (!checked_.contains(entry->order)) {
      FirstFinding first;
      check_growth_of(*entry, rows, superblock_.piece_size, first);
      NMB_TRY(first.status(file_.name()));
      checked_.insert(entry->order);
    }
  }
  grow(entry, rows);
  return {};
}

Result<bool> Growth::has_rows(std::uint64_t order) const {
  if (absent()) return false;
  NMB_TRY(load());
  return orders_.contains(order);
}

Result<std::span<const GrowthRow>> Growth::rows_of(const BlockEntry& entry) const {
  if (entry.growth == 0) return std::span<const GrowthRow>();
  NMB_TRY(load());
  if (!orders_.contains(entry.order))
    return Status(Code::kUsage,
                  "found an entry with growth, but the file has no growth rows for this block");
  const std::lock_guard lock(mutex_);
  auto [found, is_new] = rows_.try_emplace(entry.order);
  if (is_new) found->second = gather(entry.order);
  return std::span<const GrowthRow>(found->second);
}

}  // namespace nmb
