// Growth pages (see extent/growth.h).
#include "extent/growth.h"

#include <string>

#include "page/page_chain.h"

namespace nmb {

bool add_growth_page(const Page& page, std::uint32_t piece_size, GrowthRows* rows,
                     Findings& findings) {
  std::uint32_t row = page_before(page) ? 1 : 0;
  const auto report = [&](const char* rule, Column column, std::string found,
                          std::string expected) {
    findings.report({rule, page.value_offset(row, column), "growth page", std::move(found),
                     std::move(expected)});
  };
  if (is_endless(page, {kOrder, kLogicalOffset}) && page.rows() - row > 1) {
    ++row;
    report("R-GR-1", kOrder, "rows of one order and logical offset", "rows that ascend");
    return false;
  }
  for (const std::uint32_t first = row; row < page.rows(); ++row) {
    const std::uint64_t order = page.value(row, kOrder);
    if (page.value(row, kState) != 0) return false;  // R-PG-9 is reported
    if (row > first) {
      const std::uint64_t before = page.value(row - 1, kOrder);
      if (order < before || (order == before && page.value(row, kLogicalOffset) <=
                                                    page.value(row - 1, kLogicalOffset)))
        report("R-GR-1", kOrder,
               "order " + std::to_string(order) + ", logical offset " +
                   std::to_string(page.value(row, kLogicalOffset)),
               "more than in the row before");
    }
    GrowthRow growth{piece_at(page, row), page.value(row, kRecords),
                     page.value_offset(row, kOrder),         page.value_offset(row, kLogicalOffset),
                     page.value_offset(row, kRecords),       page.value_offset(row, kPosition),
                     page.value_offset(row, kSum),           page.value_offset(row, kCodec)};
    if (growth.piece.length == 0) report("R-GR-3", kRawLength, "raw length 0", "at least 1");
    check_piece_lengths("R-GR-3", "R-GR-3", page, row, growth.piece, piece_size, findings);
    std::vector<GrowthRow>& of_block = (*rows)[order];
    if (!of_block.empty()) {
      const GrowthRow& before = of_block.back();
      if (growth.piece.logical != before.piece.end())
        report("R-GR-2", kLogicalOffset, "logical offset " + std::to_string(growth.piece.logical),
               std::to_string(before.piece.end()));
      if (growth.records < before.records)
        report("R-GR-2", kRecords, std::to_string(growth.records) + " records",
               "at least " + std::to_string(before.records));
    }
    of_block.push_back(growth);
  }
  return true;
}

void check_growth_of(const BlockEntry& entry, std::span<const GrowthRow> rows, Findings& findings) {
  const std::string object = "growth of block \"" + entry.name + "\"";
  const GrowthRow& first = rows.front();
  if (first.piece.logical != entry.extent_length)
    findings.report({"R-GR-2", first.logical_at, object,
                     "logical offset " + std::to_string(first.piece.logical),
                     std::to_string(entry.extent_length) + ", where the extent of its entry ends"});
  if (first.records < entry.records)
    findings.report({"R-GR-2", first.records_at, object, std::to_string(first.records) + " records",
                     "at least " + std::to_string(entry.records) + ", as its entry has"});
}

Result<const GrowthRows*> Growth::all() const {
  const std::lock_guard lock(mutex_);
  if (rows_) return rows_.get();
  NMB_ASSIGN(const std::vector<std::shared_ptr<const Page>> pages,
             read_page_chain(file_, superblock_, PageUse::kGrowth, superblock_.growth,
                             kMaxGrowthPages));
  auto rows = std::make_unique<GrowthRows>();
  FirstFinding first;
  for (const auto& page : pages) {
    add_growth_page(*page, superblock_.piece_size, rows.get(), first);
    NMB_TRY(first.status(file_.name()));
  }
  rows_ = std::move(rows);
  return rows_.get();
}

Status Growth::add_to(BlockEntry* entry) const {
  if (absent()) return {};
  NMB_ASSIGN(const GrowthRows* const rows, all());
  const auto found = rows->find(entry->order);
  if (found == rows->end()) return {};
  FirstFinding first;
  check_growth_of(*entry, found->second, first);
  NMB_TRY(first.status(file_.name()));
  const GrowthRow& last = found->second.back();
  entry->growth = last.piece.end() - entry->extent_length;
  entry->extent_length = last.piece.end();
  entry->grown_records = last.records - entry->records;
  entry->records = last.records;
  return {};
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
