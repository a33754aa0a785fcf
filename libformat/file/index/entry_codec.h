// Encodes and decodes entries and children as rows of index pages (spec/format.md, section 7).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "page/page.h"
#include "superblock/superblock.h"
#include "wire/block_entry.h"

namespace nmb {

// Totals and needs of an entry, or of all entries below a page.
struct IndexSummary {
  Totals totals;
  std::uint64_t needs = 0;
  IndexSummary& operator+=(const IndexSummary& other) {
    totals += other.totals;
    needs |= other.needs;
    return *this;
  }
};

// A row of a node: the place of a child, and the totals of the entries below it.
struct ChildRow {
  std::string separator;
  std::uint64_t position = 0;
  std::uint32_t length = 0;
  std::uint64_t sum = 0;
  IndexSummary holds;
  std::vector<UnknownValue> unknown{};  // used only if the row is copied from an old page
};

void add_entry(PageBuilder& leaf, const BlockEntry& entry);
BlockEntry entry_at(const Page& leaf, std::uint32_t row);
void add_child(PageBuilder& node, const ChildRow& child);
// Fills an empty node with the first children, at most `rows` of them, and adds their totals to
// *holds. Returns their number.
std::size_t fill_node(PageBuilder& node, std::span<const ChildRow> children, std::uint32_t rows,
                      IndexSummary* holds);
ChildRow child_at(const Page& node, std::uint32_t row);
// Returns what the child in this row of a node must be.
PageExpectation expected_child(const Superblock& superblock, const Page& node, std::uint32_t row);
IndexSummary index_summary_at(const Page& page, std::uint32_t row);
IndexSummary index_summary_of(const Page& page);
inline IndexSummary index_summary_of(const BlockEntry& entry) {
  return {entry.totals(), entry.needs};
}

// Fails with kLimit if an index with nodes of level `level` would be too high (spec/format.md,
// section 16).
Status check_index_level(std::uint16_t level, std::uint32_t leaf_rows, std::uint32_t node_rows);

// Returns the shortest prefix of `name` that is greater than `before`. `before` must be less than
// `name`.
std::string separator_between(std::string_view before, std::string_view name);

}  // namespace nmb
