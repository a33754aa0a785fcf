// The columns of pages, and which pages may have each (spec/format.md, section 6).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace nmb {

enum class PageUse : std::uint8_t {
  kIndex,
  kDataMap,
  kDead,
  kFileTable,
  kGrowth,
  kStatistics,
  kTags
};

enum Column : std::uint16_t {
  kNameEnd = 1,
  kKind = 2,
  kCodec = 3,
  kFlags = 4,
  kPosition = 5,
  kStoredLength = 6,
  kRawLength = 7,
  kDigest = 8,
  kSum = 9,
  kExtentPosition = 10,
  kExtentLength = 11,
  kExtentSum = 12,
  kBlocks = 13,
  kDimensions = 14,
  kVariables = 15,
  kAttributes = 16,
  kRecords = 17,
  kSamples = 18,
  kMapPosition = 19,
  kMapLength = 20,
  kMapSum = 21,
  kFileDigest = 25,
  kFileSha256 = 26,     // first half
  kFileSha256End = 27,  // second half
  kOrder = 31,
  kLogicalOffset = 32,
  kFileNumber = 33,
  kState = 34,
  kNeeds = 35,
  kElements = 48,
  kMissing = 49,
  kNans = 50,
  kMinimum = 51,
  kMaximum = 52,
  kBytesEnd = 53,
};

// Columns with values of 16 bytes.
inline constexpr std::array kWideColumns = {kDigest, kFileDigest, kFileSha256, kFileSha256End};

// A set of pages. It has two bits for each use: one for leaves, and one for nodes.
using PageSet = std::uint16_t;
constexpr PageSet leaf_of(PageUse use) {
  return static_cast<PageSet>(1 << (2 * static_cast<int>(use)));
}
constexpr PageSet node_of(PageUse use) {
  return static_cast<PageSet>(2 << (2 * static_cast<int>(use)));
}
constexpr PageSet pages_of(PageUse use) { return leaf_of(use) | node_of(use); }

// A range of columns, and the pages that may have them.
struct ColumnUse {
  std::uint16_t first, last;
  PageSet pages;
};

inline constexpr auto kColumnUses = [] {
  constexpr PageSet index_leaf = leaf_of(PageUse::kIndex), index_node = node_of(PageUse::kIndex),
                    index = pages_of(PageUse::kIndex), map_leaf = leaf_of(PageUse::kDataMap),
                    map = pages_of(PageUse::kDataMap), dead = pages_of(PageUse::kDead),
                    files = pages_of(PageUse::kFileTable), growth = pages_of(PageUse::kGrowth),
                    statistics_leaf = leaf_of(PageUse::kStatistics),
                    table_leaf = statistics_leaf | leaf_of(PageUse::kTags),
                    table_node = node_of(PageUse::kStatistics) | node_of(PageUse::kTags),
                    table = table_leaf | table_node,
                    any = index | map | dead | files | growth | table;
  return std::to_array<ColumnUse>({
      {kNameEnd, kNameEnd, index | files | table},
      {kKind, kKind, index_leaf | table_leaf},
      {kCodec, kCodec, index_leaf | map_leaf | growth},
      {kFlags, kFlags, index_leaf},
      {kPosition, kStoredLength, any},
      {kRawLength, kRawLength, index_leaf | map_leaf | growth},
      {kDigest, kDigest, index_leaf | files},
      {kSum, kSum, any},
      {kExtentPosition, kExtentSum, index_leaf},
      {kBlocks, kBlocks, index_node | table_node},
      {kDimensions, kAttributes, index},
      {kRecords, kRecords, index | growth},
      {kSamples, kSamples, index},
      {kMapPosition, kMapSum, index_leaf | files},
      {kFileDigest, kFileSha256End, index_leaf},
      {kOrder, kOrder, index_leaf | files | growth | table},
      {kLogicalOffset, kLogicalOffset, map | growth},
      {kFileNumber, kFileNumber, map_leaf},
      {kState, kState, map_leaf | dead | files | growth | table_leaf},
      {kNeeds, kNeeds, index},
      {kElements, kNans, statistics_leaf},
      {kMinimum, kMinimum, table_leaf},
      {kMaximum, kMaximum, statistics_leaf},
      {kBytesEnd, kBytesEnd, map_leaf | files | table_leaf},
  });
}();
static_assert(std::ranges::is_sorted(kColumnUses, {}, &ColumnUse::last));
inline constexpr std::uint16_t kColumnCount = kColumnUses.back().last + 1;

// Returns nullptr if this version does not define the column id, which is then reserved for later
// versions.
constexpr const ColumnUse* find_column(std::uint16_t id) {
  const auto* const found = std::ranges::lower_bound(kColumnUses, id, {}, &ColumnUse::last);
  return found != kColumnUses.end() && found->first <= id ? found : nullptr;
}

// Returns whether this version knows the column, and pages of this use and level may have it.
constexpr bool may_have(PageUse use, bool leaf, std::uint16_t id) {
  const ColumnUse* const column = find_column(id);
  return column && (column->pages & (leaf ? leaf_of(use) : node_of(use))) != 0;
}

}  // namespace nmb
