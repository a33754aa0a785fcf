// Entries and children as rows of index pages (spec/format.md, section 7).
#pragma once

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
ChildRow child_at(const Page& node, std::uint32_t row);
Totals totals_at(const Page& page, std::uint32_t row);
Totals totals_of(const Page& page);

// The shortest prefix of `name` that is greater than `before`; before < name.
std::string separator_between(std::string_view before, std::string_view name);

}  // namespace nmb
