// Entries of blocks as rows of index pages and in messages between ranks.
#include "index/entry_codec.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "index/entry_message.h"
#include "superblock/superblock.h"
#include "support/vectors.h"

namespace nmb::test {
namespace {

// An entry in which each column of a leaf has another value.
BlockEntry entry_of_all_columns() {
  BlockEntry e;
  e.name = "name";
  for_each_field(e, [](Column column, auto& field) {
    using Field = std::decay_t<decltype(field)>;
    const std::uint64_t id = column;
    if constexpr (std::is_same_v<Field, Digest>) {
      field = {id, 10 * id};
    } else if constexpr (std::is_same_v<Field, Place>) {
      field = {id, id + 1, id + 2};
    } else if constexpr (std::is_same_v<Field, FileDigests>) {
      field.xxh3 = {id, 10 * id};
      std::fill_n(field.sha256.begin(), 16, std::byte{1});
      std::fill_n(field.sha256.begin() + 16, 16, std::byte{2});
    } else {
      field = static_cast<Field>(id);
    }
  });
  return e;
}

std::vector<std::byte> page_of(const BlockEntry& entry) {
  PageBuilder leaf(PageUse::kIndex, 0);
  add_entry(leaf, entry);
  return leaf.encode({{1, 2}, 1, 3}, 16384)->bytes;
}

Page decoded(const std::vector<std::byte>& bytes) {
  FindingList findings;
  auto page = Page::decode(bytes, PageHeader::decode(bytes)->expectation(), findings);
  EXPECT_TRUE(findings.list.empty());
  return std::move(*page);
}

TEST(EntryCodec, EachFieldHasItsColumn) {
  const Page page = decoded(page_of(entry_of_all_columns()));
  for (std::uint16_t column = 1; column < kColumnCount; ++column) {
    const bool is_of_leaf = may_have(PageUse::kIndex, true, column);
    EXPECT_EQ(page.has(static_cast<Column>(column)), is_of_leaf) << column;
    if (!is_of_leaf || std::ranges::count(kWideColumns, column)) continue;
    const std::uint64_t expected = column == kNameEnd ? 4 : column == kFlags ? 1 : column;
    EXPECT_EQ(page.value(0, static_cast<Column>(column)), expected) << column;
  }
  EXPECT_EQ(page.digest(0), (Digest{8, 80}));
  EXPECT_EQ(page.digest(0, kFileDigest), (Digest{25, 250}));
  EXPECT_EQ(page.digest(0, kFileSha256), (Digest{0x0101010101010101, 0x0101010101010101}));
  EXPECT_EQ(page.digest(0, kFileSha256End), (Digest{0x0202020202020202, 0x0202020202020202}));
}

TEST(EntryCodec, EntriesComeBackFromPagesAndMessages) {
  const std::vector<std::byte> bytes = page_of(entry_of_all_columns());
  const BlockEntry entry = entry_at(decoded(bytes), 0);
  EXPECT_EQ(page_of(entry), bytes);
  BlockEntry received;
  ASSERT_TRUE(take_fields(bytes_of_fields(entry), &received).ok());
  EXPECT_EQ(page_of(received), bytes);
}

// A kind or codec of more than 16 bits must not become another kind or codec.
TEST(EntryCodec, LargeNumbersStayUnknown) {
  PageBuilder leaf(PageUse::kIndex, 0);
  leaf.add_row("name");
  leaf.set(kKind, 0x10005);
  leaf.set(kCodec, 0x10001);
  leaf.set(kFlags, 2);
  const BlockEntry entry = entry_at(decoded(leaf.encode({{1, 2}, 1, 3}, 16384)->bytes), 0);
  EXPECT_EQ(entry.kind, 0xffff);
  EXPECT_EQ(entry.codec, 0xffff);
  EXPECT_FALSE(entry.hole);
}

}  // namespace
}  // namespace nmb::test
