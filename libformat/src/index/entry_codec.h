// Entries and children as rows of index pages (spec/format.md, section 7).
#pragma once

#include <span>

#include "nmb/block_entry.h"
#include "nmb/totals.h"
#include "page/page.h"

namespace nmb {

// A node's row: a subtree and what it holds.
struct ChildRow {
  std::string separator;
  std::uint64_t position = 0;
  std::uint32_t length = 0;
  std::uint64_t sum = 0;
  Totals totals;
};

void add_entry(PageBuilder& leaf, const BlockEntry& entry);
BlockEntry entry_at(const Page& leaf, std::uint32_t row);
void add_child(PageBuilder& node, const ChildRow& child);
// Fills an empty node with the first of `children`, as many as go in, and adds up what they hold;
// returns how many.
std::size_t fill_node(PageBuilder& node, std::span<const ChildRow> children, Totals* totals);
ChildRow child_at(const Page& node, std::uint32_t row);
Totals totals_at(const Page& page, std::uint32_t row);
Totals totals_of(const Page& page);

// The shortest prefix of `name` that is greater than `before`; before < name.
std::string separator_between(std::string_view before, std::string_view name);

}  // namespace nmb
