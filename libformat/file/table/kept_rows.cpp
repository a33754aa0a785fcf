#include "table/kept_rows.h"

#include <algorithm>
#include <utility>

#include "model/name_rules.h"
#include "table/statistics_row.h"
#include "table/tag_row.h"

namespace nmb {

namespace {

using ByOrder = std::vector<std::pair<std::uint64_t, std::size_t>>;

std::pair<ByOrder::const_iterator, ByOrder::const_iterator> rows_of(const ByOrder& rows,
                                                                    std::uint64_t order) {
  const auto begin = std::ranges::lower_bound(rows, order, {}, &ByOrder::value_type::first);
  auto end = begin;
  while (end != rows.end() && end->first == order) ++end;
  return {begin, end};
}

}  // namespace

Status KeptRows::read(PageUse use, const BlockTable& table, const ByteSource& file,
                      const Wants& wants) {
  Table out;
  NMB_TRY(table.for_each(std::nullopt, [&](const FoundRow& found) -> Result<bool> {
    const TableRow row = found.value();
    NMB_ASSIGN(const bool is_wanted, wants(row.order));
    if (!is_wanted) return true;
    const Status sound = use == PageUse::kTags ? row_tag(row).status() : check_statistics_row(row);
    if (!sound.ok()) return sound.at(file.name(), found.offset());
    out.by_order.emplace_back(row.order, out.rows.count());
    out.rows.add(row);
    return true;
  }));
  std::ranges::sort(out.by_order);
  (use == PageUse::kTags ? tags_ : statistics_) = std::move(out);
  return {};
}

std::size_t KeptRows::count(PageUse use, std::uint64_t order) const {
  const auto [begin, end] = rows_of(table(use).by_order, order);
  return static_cast<std::size_t>(end - begin);
}

bool KeptRows::has(PageUse use, std::uint64_t order, std::string_view name) const {
  const Table& from = table(use);
  const auto [begin, end] = rows_of(from.by_order, order);
  return std::any_of(begin, end, [&](const auto& at) { return from.rows[at.second].name == name; });
}

void KeptRows::add_to(PageUse use, std::uint64_t order, std::uint64_t new_order, TableRows* out,
                      const std::function<bool(const TableRow&)>& stays) const {
  const Table& from = table(use);
  const auto [begin, end] = rows_of(from.by_order, order);
  for (auto at = begin; at != end; ++at) {
    TableRow row = from.rows[at->second];
    if (stays && !stays(row)) continue;
    row.order = new_order;
    out->add(row);
  }
}

Status KeptRows::check_statistics(const Metadata& metadata, std::uint64_t order) const {
  const auto [begin, end] = rows_of(statistics_.by_order, order);
  for (auto at = begin; at != end; ++at) {
    const TableRow row = statistics_.rows[at->second];
    if (!fits_variable(metadata, row))
      return Status(Code::kDamaged, {}, kNoOffset, "R-ST-2",
                    "the statistics of variable " + in_quotes(statistics_name(row.name).variable) +
                        " do not fit the block: the block has no such variable, or the variable "
                        "has another type");
  }
  return {};
}

}  // namespace nmb
