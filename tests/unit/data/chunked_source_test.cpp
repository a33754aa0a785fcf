// ChunkedSource: the array of the chunks, and the bytes that it reads.
#include "values/chunked_source.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <numeric>
#include <thread>

#include "files/pooled_file.h"
#include "sources/value_source.h"
#include "support/counting_source.h"
#include "support/programs.h"
#include "wire/endian.h"

namespace nmb {
namespace {

// An array of 100 x 50 values of 4 bytes, value n being n, in chunks of 16 x `columns`.
class ChunkedSourceTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kRows = 100, kColumns = 50, kChunkRows = 16;

  void make(std::uint64_t columns, std::uint32_t absent = ~0u) {
    const std::uint64_t across = (kColumns + columns - 1) / columns;
    const std::uint64_t down = (kRows + kChunkRows - 1) / kChunkRows;
    storage_.kind = StorageKind::kChunked;
    storage_.chunk = {kChunkRows, columns};
    const std::uint64_t bytes = kChunkRows * columns * 4;
    std::vector<std::byte> region(across * down * ChunkRow::kLength);
    for (std::uint64_t n = 0; n < across * down; ++n) {
      std::byte* row = region.data() + n * ChunkRow::kLength;
      if (n == absent) continue;
      store_le<std::uint64_t>(row, region.size());
      store_le<std::uint64_t>(row + 8, bytes);
      for (std::uint64_t i = 0; i < kChunkRows; ++i)
        for (std::uint64_t j = 0; j < columns; ++j) {
          const std::uint64_t y = n / across * kChunkRows + i, x = n % across * columns + j;
          const bool is_there = y < kRows && x < kColumns;
          std::byte value[4];
          store_le(value, static_cast<std::uint32_t>(is_there ? y * kColumns + x : 77));
          region.insert(region.end(), value, value + 4);
        }
    }
    storage_.region_length = region.size();
    region_ = std::make_shared<test::CountingSource>(owned_bytes(std::move(region), ""));
    source_ = std::make_shared<ChunkedSource>(
        region_, storage_, std::vector<std::uint64_t>{kRows, kColumns}, 4,
        std::vector<std::byte>(4, std::byte{9}), kRows * kColumns * 4,
        std::make_shared<ChunkCache>(1 << 20));
  }
  // Values [from, to), of which those of `absent` rows are fill values.
  void expect(std::uint64_t from, std::uint64_t to, std::uint64_t absent_row = ~std::uint64_t{0}) {
    std::vector<std::byte> bytes((to - from) * 4);
    ASSERT_TRUE(source_->read_at(from * 4, bytes).ok());
    for (std::uint64_t n = from; n < to; ++n) {
      const bool is_filled = n / kColumns / kChunkRows == absent_row;
      ASSERT_EQ(load_le<std::uint32_t>(bytes.data() + (n - from) * 4), is_filled ? 0x09090909 : n);
    }
  }

  Storage storage_;
  std::shared_ptr<test::CountingSource> region_;
  std::shared_ptr<ChunkedSource> source_;
};

TEST_F(ChunkedSourceTest, LongRunsOfPlainChunksAreReadWhereTheyLie) {
  make(kColumns);
  expect(0, kRows * kColumns);
  EXPECT_EQ(region_->reads(), 1U + 7);  // the table, and each chunk
  expect(130, 4321);
}

TEST_F(ChunkedSourceTest, ShortRunsAreTakenFromChunksInMemory) {
  make(20);
  expect(0, kRows * kColumns);
  EXPECT_EQ(region_->reads(), 1U + 21);
  expect(7, 8);
  EXPECT_EQ(region_->reads(), 1U + 21);
  expect(130, 4321);
}

// A file with four chunks of 64 KiB, without filters.
class PlainChunksTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kChunks = 4, kChunkBytes = 65536;
  static constexpr std::uint64_t kTable = kChunks * ChunkRow::kLength;

  PlainChunksTest() : bytes_(kTable + kChunks * kChunkBytes) {
    storage_.kind = StorageKind::kChunked;
    storage_.chunk = {1, kChunkBytes};
    storage_.region_length = bytes_.size();
    for (std::uint64_t n = 0; n < kChunks; ++n) {
      store_le<std::uint64_t>(bytes_.data() + n * ChunkRow::kLength, kTable + n * kChunkBytes);
      store_le<std::uint64_t>(bytes_.data() + n * ChunkRow::kLength + 8, kChunkBytes);
    }
  }

  Storage storage_;
  std::vector<std::byte> bytes_;
};

TEST_F(PlainChunksTest, ReadsThatEndWithinChunksReadNothingElse) {
  const auto region = std::make_shared<test::CountingSource>(owned_bytes(bytes_, ""));
  const ChunkedSource source(region, storage_, {kChunks, kChunkBytes}, 1, std::vector<std::byte>(1),
                             kChunks * kChunkBytes, std::make_shared<ChunkCache>(1 << 20));
  std::vector<std::byte> part(40960);
  for (std::uint64_t at = 0; at < source.size(); at += part.size()) {
    part.resize(std::min<std::uint64_t>(part.size(), source.size() - at));
    ASSERT_TRUE(source.read_at(at, part).ok());
  }
  EXPECT_EQ(region->bytes(), kTable + kChunks * kChunkBytes);
}

// Bytes of a file without checksums cannot show damage. Reading fails in this test.
TEST_F(PlainChunksTest, AreNotReadFromAFileToCheckThem) {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "chunks").string();
  test::write_file(path, {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()});
  const ChunkTable table(*PooledFile::open(path, std::make_shared<FilePool>(1)), storage_, 1);
  std::vector<ChunkRow> rows = *table.rows(0, kChunks);
  std::filesystem::resize_file(path, kTable);
  for (std::uint64_t n = 0; n < kChunks; ++n) {
    EXPECT_FALSE(table.load(n, rows[n]).ok());
    EXPECT_TRUE(table.check(n, rows[n]).ok());
  }
  rows[0].offset = bytes_.size() - 1;
  EXPECT_EQ(table.check(0, rows[0]).status().code(), Code::kDamaged);
}

TEST_F(PlainChunksTest, AreReadFromOtherSourcesToCheckThem) {
  const auto region = std::make_shared<test::CountingSource>(owned_bytes(bytes_, ""));
  const ChunkTable table(region, storage_, 1);
  const std::vector<ChunkRow> rows = *table.rows(0, kChunks);
  for (std::uint64_t n = 0; n < kChunks; ++n) EXPECT_TRUE(table.check(n, rows[n]).ok());
  EXPECT_EQ(region->bytes(), bytes_.size());
}

TEST_F(ChunkedSourceTest, ChunksThatAreNotThereAreFillValues) {
  make(kColumns, 2);
  expect(0, kRows * kColumns, 2);
}

TEST_F(ChunkedSourceTest, PartsOfValuesAreRead) {
  make(kColumns);
  std::vector<std::byte> bytes(9);
  ASSERT_TRUE(source_->read_at(4 * 805 - 3, bytes).ok());
  EXPECT_EQ(load_le<std::uint32_t>(bytes.data() + 3), 805u);
}

// A filter that was left out by the mask leaves values as they are.
TEST_F(ChunkedSourceTest, AMaskedFilterDoesNothing) {
  make(kColumns);
  std::vector<std::byte> region(region_->size());
  ASSERT_TRUE(region_->read_at(0, region).ok());
  for (std::size_t n = 0; n < 7; ++n) store_le<std::uint32_t>(region.data() + n * 24 + 16, 1u);
  storage_.filters = {{.id = 1, .flags = 0, .name = "deflate", .parameters = {6}}};
  source_ = std::make_shared<ChunkedSource>(
      owned_bytes(region, ""), storage_, std::vector<std::uint64_t>{kRows, kColumns}, 4,
      std::vector<std::byte>(4), kRows * kColumns * 4, std::make_shared<ChunkCache>(1 << 20));
  expect(0, kRows * kColumns);
}

TEST_F(ChunkedSourceTest, ChunksOutsideTheRegionAreDamage) {
  make(kColumns);
  std::vector<std::byte> region(region_->size());
  ASSERT_TRUE(region_->read_at(0, region).ok());
  store_le<std::uint64_t>(region.data() + 24, region.size() - 8);
  source_ = std::make_shared<ChunkedSource>(
      owned_bytes(region, ""), storage_, std::vector<std::uint64_t>{kRows, kColumns}, 4,
      std::vector<std::byte>(4), kRows * kColumns * 4, std::make_shared<ChunkCache>(1 << 20));
  std::vector<std::byte> all(kRows * kColumns * 4);
  const Status status = source_->read_at(0, all);
  EXPECT_EQ(status.code(), Code::kDamaged);
  EXPECT_EQ(status.rule(), "R-XC-1");
}

// The last row leads to the first chunk, and the region ends where the last chunk began.
TEST_F(ChunkedSourceTest, ChunksThatShareBytesAreDamageWhereAllAreRead) {
  make(kColumns);
  std::vector<std::byte> region(region_->size() - kChunkRows * kColumns * 4);
  ASSERT_TRUE(region_->read_at(0, region).ok());
  store_le<std::uint64_t>(region.data() + std::size_t{6} * ChunkRow::kLength,
                          7 * ChunkRow::kLength);
  source_ = std::make_shared<ChunkedSource>(
      owned_bytes(region, ""), storage_, std::vector<std::uint64_t>{kRows, kColumns}, 4,
      std::vector<std::byte>(4), kRows * kColumns * 4, std::make_shared<ChunkCache>(1 << 20));
  std::vector<std::byte> values(kRows * kColumns * 4);
  EXPECT_TRUE(source_->read_at(values.size() - 4, std::span(values).first(4)).ok());
  EXPECT_EQ(source_->read_at(0, values).rule(), "R-XC-2");
}

TEST_F(ChunkedSourceTest, ThreadsReadAtOnce) {
  make(20);
  std::vector<std::jthread> threads;
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      for (std::uint64_t from = 0; from < 4000; from += 100) expect(from, from + 900 + t);
    });
}

}  // namespace
}  // namespace nmb
