// Rows of the tables of statistics and tags (spec/format.md, section 9.2), and their places in
// pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "format/page/page.h"
#include "nmb/bytes.h"
#include "nmb/status.h"
#include "wire/place.h"

namespace nmb {

inline constexpr std::uint32_t kTableLeafRows = 256;
inline constexpr std::uint32_t kTableNodeRows = 128;
inline constexpr std::size_t kMostTrees = 64;

// The members are views: the owner of the bytes must outlive them.
struct TableRow {
  // In the order of rows.
  enum class State : std::uint8_t { kBefore, kGone, kRow };
  State state = State::kRow;
  std::uint8_t kind = 0;
  std::string_view name;    // empty except in kRow
  std::uint64_t order = 0;  // of the block
  std::uint64_t elements = 0, missing = 0, nans = 0;
  std::uint64_t minimum = 0, maximum = 0;
  std::span<const std::byte> bytes;
  std::span<const UnknownValue> unknown;  // only of a row that is copied

  static TableRow before() {
    TableRow row;
    row.state = State::kBefore;
    return row;
  }
  static TableRow gone(std::uint64_t order) {
    TableRow row;
    row.state = State::kGone;
    row.order = order;
    return row;
  }
  // The key by which rows of a tree ascend.
  auto key() const { return std::tuple(state, name, order); }
};

// A node's row: a subtree.
struct TableChild {
  std::string name;  // of the first row below, together with its order
  std::uint64_t order = 0;
  std::uint64_t position = 0;
  std::uint32_t length = 0;
  std::uint64_t sum = 0;
  std::uint64_t rows = 0;  // number of leaf rows below
};

// name_before: of the row before in the page. before: the tree before, for a row of state kBefore.
void add_table_row(PageBuilder& leaf, const TableRow& row, std::string_view name_before,
                   const Place& before);
// Returns a view into the page, whose rows are sound.
TableRow table_row_at(const Page& leaf, std::uint32_t row);
void add_table_child(PageBuilder& node, const TableChild& child, std::string_view name_before);
TableChild table_child_at(const Page& node, std::uint32_t row);
// Returns the tree before if the leaf's first row leads to it.
std::optional<Place> tree_before(const Page& leaf);
// Returns the number of leaf rows below a page, or in it; at most 2^64 - 1.
std::uint64_t table_rows(const Page& page);

// Returns the row below which a name and order lie: the last one whose separator is not greater, or
// the first.
std::uint32_t table_child_row(const Page& node, std::string_view name, std::uint64_t order);
// Returns the first row of a name whose order is not less.
std::uint32_t table_lower_bound(const Page& leaf, std::string_view name, std::uint64_t order);

// Checks rows of a leaf: R-TB-1 and R-TB-3. after: the last row of the leaf before, or nullptr.
void check_table_leaf(const Page& leaf, std::uint64_t next_order, const TableRow* after,
                      Findings& findings);

}  // namespace nmb
