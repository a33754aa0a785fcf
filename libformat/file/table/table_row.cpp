#include "table/table_row.h"

#include <algorithm>

#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Values of column kState (34).
enum StateValue : std::uint8_t { kRowValue = 0, kBeforeValue = 1, kGoneValue = 2 };

constexpr Column kRowColumns[] = {kKind, kElements, kMissing, kNans, kMinimum, kMaximum};
constexpr Column kPlaceColumns[] = {kPosition, kStoredLength, kSum};

// Finds, by bisection of [0, rows), the first row for which less(row) is false.
template <class Less>
std::uint32_t first_not(std::uint32_t rows, Less less) {
  std::uint32_t low = 0, high = rows;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (less(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool has_bytes(const Page& leaf, std::uint32_t row) { return !leaf.row_bytes(row).empty(); }

}  // namespace

void add_table_row(PageBuilder& leaf, const TableRow& row, std::string_view name_before,
                   const Place& before) {
  leaf.add_row(row.name == name_before ? std::string_view() : row.name);
  leaf.keep(row.unknown);
  switch (row.state) {
    case TableRow::State::kBefore:
      leaf.set(kState, kBeforeValue);
      leaf.set(kPosition, before.position);
      leaf.set(kStoredLength, before.length);
      leaf.set(kSum, before.sum);
      return;
    case TableRow::State::kGone:
      leaf.set(kState, kGoneValue);
      leaf.set(kOrder, row.order);
      return;
    case TableRow::State::kRow:
      leaf.set(kOrder, row.order);
      leaf.set(kKind, row.kind);
      leaf.set(kElements, row.elements);
      leaf.set(kMissing, row.missing);
      leaf.set(kNans, row.nans);
      leaf.set(kMinimum, row.minimum);
      leaf.set(kMaximum, row.maximum);
      leaf.set_bytes(row.bytes);
  }
}

TableRow table_row_at(const Page& leaf, std::uint32_t row) {
  switch (leaf.value(row, kState)) {
    case kBeforeValue:
      return TableRow::before();
    case kGoneValue:
      return TableRow::gone(leaf.value(row, kOrder));
    default:
      break;
  }
  TableRow out;
  out.name = leaf.shared_name(row);
  out.order = leaf.value(row, kOrder);
  out.kind = static_cast<std::uint8_t>(std::min<std::uint64_t>(leaf.value(row, kKind), 255));
  out.elements = leaf.value(row, kElements);
  out.missing = leaf.value(row, kMissing);
  out.nans = leaf.value(row, kNans);
  out.minimum = leaf.value(row, kMinimum);
  out.maximum = leaf.value(row, kMaximum);
  out.bytes = leaf.row_bytes(row);
  return out;
}

void add_table_child(PageBuilder& node, const TableChild& child, std::string_view name_before) {
  node.add_row(child.name == name_before ? std::string_view() : child.name);
  node.set(kOrder, child.order);
  node.set(kPosition, child.position);
  node.set(kStoredLength, child.length);
  node.set(kSum, child.sum);
  node.set(kBlocks, child.rows);
}

TableChild table_child_at(const Page& node, std::uint32_t row) {
  return {std::string(node.shared_name(row)),
          node.value(row, kOrder),
          node.value(row, kPosition),
          static_cast<std::uint32_t>(
              std::min<std::uint64_t>(node.value(row, kStoredLength), ~std::uint32_t{0})),
          node.value(row, kSum),
          node.value(row, kBlocks)};
}

std::optional<Place> tree_before(const Page& leaf) {
  if (leaf.value(0, kState) != kBeforeValue) return std::nullopt;
  return Place{leaf.value(0, kPosition), leaf.value(0, kStoredLength), leaf.value(0, kSum)};
}

std::uint64_t table_rows(const Page& page) {
  if (page.level() == 0) return page.rows();
  std::uint64_t rows = 0;
  for (std::uint32_t row = 0; row < page.rows(); ++row)
    if (!checked_add(rows, page.value(row, kBlocks), &rows)) return ~std::uint64_t{0};
  return rows;
}

std::uint32_t table_child_row(const Page& node, std::string_view name, std::uint64_t order) {
  const std::uint32_t greater = first_not(node.rows(), [&](std::uint32_t row) {
    return std::tuple(node.shared_name(row), node.value(row, kOrder)) <= std::tuple(name, order);
  });
  return greater == 0 ? 0 : greater - 1;
}

std::uint32_t table_lower_bound(const Page& leaf, std::string_view name, std::uint64_t order) {
  TableRow wanted;
  wanted.name = name;
  wanted.order = order;
  return first_not(leaf.rows(),
                   [&](std::uint32_t row) { return table_row_at(leaf, row).key() < wanted.key(); });
}

void check_table_leaf(const Page& leaf, std::uint64_t next_order, const TableRow* after,
                      Findings& findings) {
  std::optional<TableRow> last;
  if (after) last = *after;
  for (std::uint32_t row = 0; row < leaf.rows(); ++row) {
    const auto report = [&](const char* rule, std::string found, std::string expected) {
      findings.report({rule, leaf.value_offset(row, kOrder), "page of statistics or tags",
                       std::move(found), std::move(expected)});
    };
    const std::uint64_t state = leaf.value(row, kState);
    if (state > kGoneValue) {
      report("R-TB-1", joined_text("state ", state), "0, 1 or 2");
      continue;
    }
    const auto any = [&](auto columns) {
      return std::ranges::any_of(columns, [&](Column c) { return leaf.value(row, c) != 0; });
    };
    const bool has_name = !leaf.shared_name(row).empty();
    if (state == kRowValue ? !has_name || any(std::span(kPlaceColumns))
                           : has_name || has_bytes(leaf, row) || any(std::span(kRowColumns)) ||
                                 (state == kGoneValue ? any(std::span(kPlaceColumns))
                                                      : leaf.value(row, kOrder) != 0))
      report("R-TB-5", joined_text("a row of state ", state, " whose values or name are wrong"),
             state == kRowValue ? "a name, and no place" : "only a place or an order");
    const TableRow now = table_row_at(leaf, row);
    if (now.state == TableRow::State::kBefore ? last.has_value() : last && last->key() >= now.key())
      report("R-TB-6", "a row that is not greater than the previous row", "ascending rows");
    if (now.state != TableRow::State::kBefore && now.order >= next_order)
      report("R-TB-3", joined_text("order ", now.order),
             joined_text("an order less than ", next_order));
    last = now;
  }
}

}  // namespace nmb
