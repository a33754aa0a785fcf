#include "index/entry_codec.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "superblock/superblock.h"
#include "wire/endian.h"
#include "wire/joined_text.h"

namespace nmb {

static constexpr std::uint64_t kEntryHole = 1;

// Halves of a SHA-256 are stored in wide columns with their bytes in order.
static Digest half_at(const std::byte* from) {
  return {load_le<std::uint64_t>(from), load_le<std::uint64_t>(from + 8)};
}
static void put_half(const Digest& half, std::byte* to) {
  store_le(to, half.low);
  store_le(to + 8, half.high);
}

// Sets the columns of a field: three for a place (position, length and sum) and for the digests of
// a file, otherwise one.
template <class Field>
static void set_field(PageBuilder& leaf, Column column, const Field& field) {
  if constexpr (std::is_same_v<Field, Place>) {
    leaf.set(column, field.position);
    leaf.set(static_cast<Column>(column + 1), field.length);
    leaf.set(static_cast<Column>(column + 2), field.sum);
  } else if constexpr (std::is_same_v<Field, Digest>) {
    leaf.set_digest(field, column);
  } else if constexpr (std::is_same_v<Field, FileDigests>) {
    const std::byte* const sha256 = field.sha256.data();
    leaf.set_digest(field.xxh3, column);
    leaf.set_digest(half_at(sha256), static_cast<Column>(column + 1));
    leaf.set_digest(half_at(sha256 + 16), static_cast<Column>(column + 2));
  } else if constexpr (std::is_same_v<Field, bool>) {
    leaf.set(column, field ? kEntryHole : 0);
  } else {
    leaf.set(column, field);
  }
}

// Gets a field from its column. A number that does not fit becomes the field's largest number,
// which is not a valid kind or codec.
template <class Field>
static void get_field(const Page& leaf, std::uint32_t row, Column column, Field& field) {
  if constexpr (std::is_same_v<Field, Place>) {
    field = {leaf.value(row, column), leaf.value(row, static_cast<Column>(column + 1)),
             leaf.value(row, static_cast<Column>(column + 2))};
  } else if constexpr (std::is_same_v<Field, Digest>) {
    field = leaf.digest(row, column);
  } else if constexpr (std::is_same_v<Field, FileDigests>) {
    field.xxh3 = leaf.digest(row, column);
    put_half(leaf.digest(row, static_cast<Column>(column + 1)), field.sha256.data());
    put_half(leaf.digest(row, static_cast<Column>(column + 2)), field.sha256.data() + 16);
  } else if constexpr (std::is_same_v<Field, bool>) {
    field = (leaf.value(row, column) & kEntryHole) != 0;
  } else {
    field = static_cast<Field>(
        std::min<std::uint64_t>(leaf.value(row, column), std::numeric_limits<Field>::max()));
  }
}

static void set_counts(PageBuilder& page, const BlockCounts& counts) {
  for_each_count(counts, [&](Column column, std::uint64_t count) { page.set(column, count); });
}

static BlockCounts counts_at(const Page& page, std::uint32_t row) {
  BlockCounts counts;
  for_each_count(counts,
                 [&](Column column, std::uint64_t& count) { count = page.value(row, column); });
  return counts;
}

void add_entry(PageBuilder& leaf, const BlockEntry& entry) {
  leaf.add_row(entry.name);
  for_each_field(entry, [&](Column column, const auto& field) { set_field(leaf, column, field); });
}

BlockEntry entry_at(const Page& leaf, std::uint32_t row) {
  BlockEntry entry;
  entry.name = leaf.name(row);
  for_each_field(entry, [&](Column column, auto& field) { get_field(leaf, row, column, field); });
  return entry;
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
                      IndexSummary* holds) {
  const std::size_t count = std::min<std::size_t>(children.size(), rows);
  for (const ChildRow& child : children.first(count)) {
    add_child(node, child);
    *holds += child.holds;
  }
  return count;
}

namespace {
std::uint32_t child_length(const Page& node, std::uint32_t row) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(node.value(row, kStoredLength), ~std::uint32_t{0}));
}
}  // namespace

ChildRow child_at(const Page& node, std::uint32_t row) {
  return {std::string(node.name(row)), node.value(row, kPosition),  child_length(node, row),
          node.value(row, kSum),       index_summary_at(node, row), node.unknown_values(row)};
}

PageExpectation expected_child(const Superblock& superblock, const Page& node, std::uint32_t row) {
  PageExpectation expect =
      superblock.expectation(PageUse::kIndex, static_cast<std::uint16_t>(node.level() - 1));
  expect.position = node.value(row, kPosition);
  expect.length = child_length(node, row);
  expect.sum = node.value(row, kSum);
  return expect;
}

IndexSummary index_summary_at(const Page& page, std::uint32_t row) {
  return {{counts_at(page, row), page.level() == 0 ? 1 : page.value(row, kBlocks)},
          page.value(row, kNeeds)};
}

IndexSummary index_summary_of(const Page& page) {
  IndexSummary holds;
  for (std::uint32_t row = 0; row < page.rows(); ++row) holds += index_summary_at(page, row);
  return holds;
}

Status check_index_level(std::uint16_t level, std::uint32_t leaf_rows, std::uint32_t node_rows) {
  if (level < kMaxHeight) return {};
  return Status(Code::kLimit, joined_text("found more blocks than an index of height ", kMaxHeight,
                                          " can hold with ", leaf_rows, " rows in a leaf and ",
                                          node_rows, " rows in a node"));
}

std::string separator_between(std::string_view before, std::string_view name) {
  std::size_t common = 0;
  while (common < before.size() && common < name.size() && before[common] == name[common]) ++common;
  return std::string(name.substr(0, common + 1));
}

}  // namespace nmb
