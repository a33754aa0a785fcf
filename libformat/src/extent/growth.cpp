// Growth pages (see extent/growth.h).
#include "extent/growth.h"

#include <string>
#include <utility>

#include "page/page_chain.h"

namespace nmb {

namespace {

constexpr std::uint64_t kMaxEnd = ~std::uint64_t{0} >> 1;  // 2^63 - 1

bool ends_within_limits(const Piece& piece) {
  return piece.logical <= kMaxEnd && piece.length <= kMaxEnd - piece.logical;
}

}  // namespace

bool add_growth_page(const std::shared_ptr<const Page>& shared, GrowthRows* rows,
                     Findings& findings) {
  const Page& page = *shared;
  const std::uint32_t first = page_before(page) ? 1 : 0;
  const auto not_ascending = [&](std::uint32_t row) {
    findings.report({"R-GR-1", page.value_offset(row, kOrder), "growth page",
                     "order " + std::to_string(page.value(row, kOrder)) + ", logical offset " +
                         std::to_string(page.value(row, kLogicalOffset)),
                     "more than in the row before"});
  };
  if (is_endless(page, {kOrder, kLogicalOffset}) && page.rows() - first > 1) {
    not_ascending(first + 1);
    return false;
  }
  for (std::uint32_t row = first; row < page.rows(); ++row) {
    if (page.value(row, kState) != 0) return false;  // R-PG-9 is reported
    const std::pair key(page.value(row, kOrder), page.value(row, kLogicalOffset));
    if (row > first &&
        key <= std::pair(page.value(row - 1, kOrder), page.value(row - 1, kLogicalOffset)))
      not_ascending(row);
    (*rows)[key.first].push_back({piece_at(page, row), page.value(row, kRecords), shared, row});
  }
  return true;
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
      report("R-GR-2", kLogicalOffset, "logical offset " + std::to_string(row.piece.logical),
             std::to_string(end) + ", where the values before end");
    if (row.records < records)
      report("R-GR-2", kRecords, std::to_string(row.records) + " records",
             "at least " + std::to_string(records));
    records = row.records;
    if (row.piece.length == 0) report("R-GR-3", kRawLength, "raw length 0", "at least 1");
    if (!ends_within_limits(row.piece)) {
      report("R-GR-2", kRawLength, "a piece that ends behind 2^63 - 1", "an end of at most that");
      end = kMaxEnd;
      continue;
    }
    check_piece_lengths("R-GR-3", "R-GR-3", *row.page, row.row, row.piece, piece_size, findings);
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

Result<const GrowthRows*> Growth::all() const {
  const std::lock_guard lock(mutex_);
  if (loaded_) return &rows_;
  const Page* const known = pages_.empty() ? nullptr : pages_.back().get();
  NMB_ASSIGN(std::vector<std::shared_ptr<const Page>> pages,
             read_page_chain(file_, superblock_, PageUse::kGrowth, superblock_.growth,
                             kMaxGrowthPages - pages_.size(), known));
  const std::optional<Place> before =
      pages.empty() ? superblock_.growth : page_before(*pages.front());
  if (known && !(before && before->position == known->position())) {
    pages_.clear();
    rows_.clear();
  }
  FirstFinding first;
  for (auto& page : pages) {
    add_growth_page(page, &rows_, first);
    if (first.found()) {
      pages_.clear();
      rows_.clear();
      return first.status(file_.name());
    }
    for (std::uint32_t row = 0; row < page->rows(); ++row) checked_.erase(page->value(row, kOrder));
    pages_.push_back(std::move(page));
  }
  loaded_ = true;
  return &rows_;
}

Result<std::span<const std::shared_ptr<const Page>>> Growth::pages() const {
  NMB_TRY(all().status());
  return std::span<const std::shared_ptr<const Page>>(pages_);
}

void Growth::continue_from(Growth& before) {
  if (absent()) return;
  pages_ = std::move(before.pages_);
  rows_ = std::move(before.rows_);
  checked_ = std::move(before.checked_);
}

Status Growth::add_to(BlockEntry* entry) const {
  if (absent()) return {};
  NMB_ASSIGN(const GrowthRows* const rows, all());
  const auto found = rows->find(entry->order);
  if (found == rows->end()) return {};
  if (!(entry->needs & ~kSupportedNeeds)) {
    const std::lock_guard lock(mutex_);
    if (!checked_.contains(entry->order)) {
      FirstFinding first;
      check_growth_of(*entry, found->second, superblock_.piece_size, first);
      NMB_TRY(first.status(file_.name()));
      checked_.insert(entry->order);
    }
  }
  grow(entry, found->second);
  return {};
}

Result<bool> Growth::has_rows(std::uint64_t order) const {
  if (absent()) return false;
  NMB_ASSIGN(const GrowthRows* const rows, all());
  return rows->contains(order);
}

Result<std::span<const GrowthRow>> Growth::rows_of(const BlockEntry& entry) const {
  if (entry.growth == 0) return std::span<const GrowthRow>();
  NMB_ASSIGN(const GrowthRows* const rows, all());
  const auto found = rows->find(entry.order);
  if (found == rows->end())
    return Status(Code::kUsage, "found an entry with growth that the file does not have");
  return std::span<const GrowthRow>(found->second);
}

}  // namespace nmb
