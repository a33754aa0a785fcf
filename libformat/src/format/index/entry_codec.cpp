// Encodes and decodes entries and children as rows of index pages (spec/format.md, section 7).
#include "format/index/entry_codec.h"

#include <algorithm>
#include <iterator>

#include "format/superblock/superblock.h"
#include "wire/joined_text.h"

namespace nmb {

static constexpr std::uint64_t kEntryHole = 1;

// Returns `value`, or the largest 16-bit number if `value` does not fit the 16-bit field of a
// block's header. No kind or codec has that number.
static std::uint16_t two_bytes(std::uint64_t value) {
  return static_cast<std::uint16_t>(std::min<std::uint64_t>(value, 0xffff));
}

// Sets the three columns of a place: position, length and sum.
static void set_place(PageBuilder& leaf, Column first, const Place& place) {
  leaf.set(first, place.position);
  leaf.set(static_cast<Column>(first + 1), place.length);
  leaf.set(static_cast<Column>(first + 2), place.sum);
}

static Place place_at(const Page& leaf, std::uint32_t row, Column first) {
  return {leaf.value(row, first), leaf.value(row, static_cast<Column>(first + 1)),
          leaf.value(row, static_cast<Column>(first + 2))};
}

// The columns of BlockCounts, in the order of for_each().
static constexpr Column kCounts[] = {kDimensions, kVariables, kAttributes, kRecords, kSamples};
static_assert(sizeof(BlockCounts) == std::size(kCounts) * sizeof(std::uint64_t));

static void set_counts(PageBuilder& page, const BlockCounts& counts) {
  const Column* column = kCounts;
  BlockCounts::for_each(counts, [&](std::uint64_t count) { page.set(*column++, count); });
}

static BlockCounts counts_at(const Page& page, std::uint32_t row) {
  BlockCounts counts;
  const Column* column = kCounts;
  BlockCounts::for_each(counts, [&](std::uint64_t& count) { count = page.value(row, *column++); });
  return counts;
}

void add_entry(PageBuilder& leaf, const BlockEntry& e) {
  leaf.add_row(e.name);
  leaf.set(kKind, e.kind);
  leaf.set(kCodec, e.codec);
  leaf.set(kFlags, e.hole ? kEntryHole : 0);
  leaf.set(kPosition, e.position);
  leaf.set(kStoredLength, e.stored_length);
  leaf.set(kRawLength, e.raw_length);
  leaf.set_digest(e.digest);
  leaf.set(kSum, e.sum);
  leaf.set(kExtentPosition, e.extent_position);
  leaf.set(kExtentLength, e.extent_length);
  leaf.set(kExtentSum, e.extent_sum);
  set_counts(leaf, e);
  set_place(leaf, kMapPosition, e.map);
  set_place(leaf, kStoragePosition, e.storage);
  leaf.set(kOrder, e.order);
  leaf.set(kNeeds, e.needs);
}

BlockEntry entry_at(const Page& leaf, std::uint32_t row) {
  BlockEntry e;
  e.name = leaf.name(row);
  e.kind = two_bytes(leaf.value(row, kKind));
  e.codec = two_bytes(leaf.value(row, kCodec));
  e.hole = leaf.value(row, kFlags) & kEntryHole;
  e.position = leaf.value(row, kPosition);
  e.stored_length = leaf.value(row, kStoredLength);
  e.raw_length = leaf.value(row, kRawLength);
  e.digest = leaf.digest(row);
  e.sum = leaf.value(row, kSum);
  e.extent_position = leaf.value(row, kExtentPosition);
  e.extent_length = leaf.value(row, kExtentLength);
  e.extent_sum = leaf.value(row, kExtentSum);
  e.counts() = counts_at(leaf, row);
  e.map = place_at(leaf, row, kMapPosition);
  e.storage = place_at(leaf, row, kStoragePosition);
  e.order = leaf.value(row, kOrder);
  e.needs = leaf.value(row, kNeeds);
  return e;
}

void add_child(PageBuilder& node, const ChildRow& child) {
  node.add_row(child.separator);
  node.set(kPosition, child.position);
  node.set(kStoredLength, child.length);
  node.set(kSum, child.sum);
  node.set(kBlocks, child.holds.totals.blocks);
  set_counts(node, child.holds.totals);
  node.set(kNeeds, child.holds.needs);
  node.keep(child.unknown);
}

std::size_t fill_node(PageBuilder& node, std::span<const ChildRow> children, std::uint32_t rows,
                      Holdings* holds) {
  const std::size_t count = std::min<std::size_t>(children.size(), rows);
  for (const ChildRow& child : children.first(count)) {
    add_child(node, child);
    *holds += child.holds;
  }
  return count;
}

ChildRow child_at(const Page& node, std::uint32_t row) {
  return {std::string(node.name(row)),
          node.value(row, kPosition),
          static_cast<std::uint32_t>(
              std::min<std::uint64_t>(node.value(row, kStoredLength), ~std::uint32_t{0})),
          node.value(row, kSum),
          holdings_at(node, row),
          node.unknown_values(row)};
}

Holdings holdings_at(const Page& page, std::uint32_t row) {
  return {{counts_at(page, row), page.level() == 0 ? 1 : page.value(row, kBlocks)},
          page.value(row, kNeeds)};
}

Holdings holdings_of(const Page& page) {
  Holdings holds;
  for (std::uint32_t row = 0; row < page.rows(); ++row) holds += holdings_at(page, row);
  return holds;
}

Status check_index_level(std::uint16_t level, std::uint32_t leaf_rows, std::uint32_t node_rows) {
  if (level < kMaxHeight) return {};
  return Status(Code::kLimit,
                joined_text("found more blocks than an index of height ", kMaxHeight,
                            " holds with ", leaf_rows, " leaf rows and ", node_rows, " node rows"));
}

std::string separator_between(std::string_view before, std::string_view name) {
  std::size_t common = 0;
  while (common < before.size() && common < name.size() && before[common] == name[common]) ++common;
  return std::string(name.substr(0, common + 1));
}

}  // namespace nmb
