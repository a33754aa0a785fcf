// Encodes, decodes and checks rows of the tables of statistics and tags (spec/tables.md, section
// 9.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "page/page.h"
#include "wire/bytes.h"
#include "wire/failure.h"
#include "wire/place.h"

namespace nmb {

inline constexpr std::uint32_t kTableLeafRows = 256;
inline constexpr std::uint32_t kTableNodeRows = 128;
inline constexpr std::size_t kMostTrees = 64;
// The longest name in bytes. A variable with a longer name has no row of statistics.
inline constexpr std::size_t kMostRowName = 65535;

// A row of a leaf. `name`, `bytes` and `unknown` refer to bytes of another object, which must
// outlive the row.
struct TableRow {
  // The states of rows, in the order in which a tree sorts them.
  enum class State : std::uint8_t { kBefore, kGone, kRow };
  State state = State::kRow;
  std::uint8_t kind = 0;
  std::string_view name;    // empty unless the state is kRow
  std::uint64_t order = 0;  // order of the block
  std::uint64_t elements = 0, missing = 0, nans = 0;
  std::uint64_t minimum = 0, maximum = 0;
  std::span<const std::byte> bytes;
  std::span<const UnknownValue> unknown;  // used only if the row is copied from an old page

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
  // Returns the key by which the rows of a tree are sorted.
  auto key() const { return std::tuple(state, name, order); }
};

// A row in a message between ranks. The sender makes it from a row. The receiver's row() refers to
// the message and to this object.
class SentRow {
 public:
  SentRow() = default;
  SentRow(const TableRow& row) : row_(row), unknown_(row.unknown.begin(), row.unknown.end()) {}
  TableRow row() const {
    TableRow row = row_;
    row.unknown = unknown_;
    return row;
  }

  template <class Fields>
  friend void fields(Fields& all, SentRow& sent) {
    TableRow& row = sent.row_;
    all.choice(row.state, TableRow::State::kRow);
    all(row.kind, row.name, row.order, row.elements, row.missing, row.nans, row.minimum,
        row.maximum, row.bytes, sent.unknown_);
  }

 private:
  TableRow row_;
  std::vector<UnknownValue> unknown_;
};

// A row of a node, which refers to a child of the node.
struct TableChild {
  std::string name;  // `name` and `order` are those of the first row below the child
  std::uint64_t order = 0;
  std::uint64_t position = 0;
  std::uint32_t length = 0;
  std::uint64_t sum = 0;
  std::uint64_t rows = 0;  // number of leaf rows below the child

  template <class Fields>
  friend void fields(Fields& all, TableChild& child) {
    all(child.name, child.order, child.position, child.length, child.sum, child.rows);
  }
};

// Adds a row to a leaf. name_before: name of the previous row in the page. before: place of the
// previous tree, for a row with state kBefore.
void add_table_row(PageBuilder& leaf, const TableRow& row, std::string_view name_before,
                   const Place& before);
// Returns a row that refers to bytes of the page, whose rows must be valid.
TableRow table_row_at(const Page& leaf, std::uint32_t row);
void add_table_child(PageBuilder& node, const TableChild& child, std::string_view name_before);
TableChild table_child_at(const Page& node, std::uint32_t row);
// Returns the place of the previous tree, if the leaf's first row states it.
std::optional<Place> tree_before(const Page& leaf);
// Returns the number of rows of a leaf, or of all leaves below a node; at most 2^64 - 1.
std::uint64_t table_rows(const Page& page);

// Returns the row whose child may have this name and order: the last row whose separator is not
// greater than (name, order), or the first row if there is none.
std::uint32_t table_child_row(const Page& node, std::string_view name, std::uint64_t order);
// Returns the first row that is not less than the given name and order.
std::uint32_t table_lower_bound(const Page& leaf, std::string_view name, std::uint64_t order);

// Checks R-TB-1, R-TB-3, R-TB-5 and R-TB-6 for the rows of a leaf. after: last row of the previous
// leaf; nullptr for the first leaf.
void check_table_leaf(const Page& leaf, std::uint64_t next_order, const TableRow* after,
                      Findings& findings);

}  // namespace nmb
