// Reading over a network: how many requests and bytes a question takes.
#include <gtest/gtest.h>

#include <numeric>
#include <unordered_map>

#include "files/files.h"
#include "reader/file_reader.h"
#include "support/counting_source.h"
#include "support/programs.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

constexpr std::size_t kRequest = 16 << 20;

std::string name_of(int i) {
  const std::string digits = std::to_string(i);
  return "r" + std::string(6 - digits.size(), '0') + digits;
}

// Blocks of a few variables with statistics; the values of the last do not lie behind its block.
class FarReadingTest : public testing::Test {
 protected:
  void write(int blocks, std::uint64_t length = 3) {
    blocks_ = blocks;
    FileWriterOptions options;
    options.sync = false;
    options.statistics = StatisticsLevel::kBasic;
    options.inline_limit = 0;
    options.piece_size = 65536;
    auto writer = *FileWriter::create(path(), options);
    std::vector<BlockId> ids;
    for (int i = 0; i < blocks; ++i) {
      const BlockId block = *writer->define_block(name_of(i));
      const DimId x = *writer->def_dim(block, "x", i == blocks - 1 ? length : 3);
      for (const char* name : {"edge_index", "pos", "x", "y_semantic"})
        ASSERT_TRUE(writer->def_var(block, name, Type::kInt, {{x}}).ok());
      ids.push_back(block);
    }
    ASSERT_TRUE(writer->end_define().ok());
    for (int i = 0; i < blocks; ++i)
      for (VarId v = 0; v < 4; ++v) {
        std::vector<int> values(i == blocks - 1 ? length : 3);
        std::iota(values.begin(), values.end(), 10 * i + static_cast<int>(v));
        ASSERT_TRUE(
            writer->put(ids[static_cast<std::size_t>(i)], v, std::span<const int>(values)).ok());
      }
    ASSERT_TRUE(writer->close().ok());
    file_ = *FileSource::open(path());
  }
  std::string path() const { return (folder_.path() / "far.nmb").string(); }
  std::unique_ptr<FileReader> open(std::size_t request_bytes = kRequest) {
    counted_ = std::make_shared<CountingSource>(*file_);
    ReadOptions options;
    options.request_bytes = request_bytes;
    return std::move(*FileReader::open(counted_, options));
  }
  // Blocks are counted, the last is found by its statistics, and a value of it is read.
  void select(const FileReader& reader) {
    EXPECT_EQ(reader.totals().blocks, static_cast<std::uint64_t>(blocks_));
    std::unordered_map<std::uint64_t, bool> wanted;
    ASSERT_TRUE(reader
                    .for_each_statistics("x",
                                         [&](std::uint64_t order, const VariableStatistics& v) {
                                           int least = 0;
                                           (void)convert_from_external(Type::kInt, v.minimum.data(),
                                                                       1, MemoryType::kInt32,
                                                                       &least);
                                           wanted[order] = least >= 10 * (blocks_ - 1);
                                           return Result<bool>(true);
                                         })
                    .ok());
    EXPECT_EQ(wanted.size(), static_cast<std::size_t>(blocks_));
    std::vector<BlockEntry> found;
    ASSERT_TRUE(reader
                    .for_each_entry("",
                                    [&](const BlockEntry& entry) -> Result<bool> {
                                      if (wanted.at(entry.order)) found.push_back(entry);
                                      return true;
                                    })
                    .ok());
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].name, name_of(blocks_ - 1));
    read_value(**reader.block(found[0]));
  }
  void read_value(const LoadedBlock& block) {
    int value = 0;
    ASSERT_TRUE(
        block.read(*block.metadata.find_variable("pos"), {{1}, {1}, {}}, std::span(&value, 1))
            .ok());
    EXPECT_EQ(value, 10 * (blocks_ - 1) + 2);
  }
  TemporaryFolder folder_;
  int blocks_ = 0;
  std::unique_ptr<FileSource> file_;
  std::shared_ptr<CountingSource> counted_;
};

TEST_F(FarReadingTest, SelectsByStatisticsInFourRequests) {
  write(9000);
  const auto reader = open();
  select(*reader);
  EXPECT_LE(counted_->reads(), 4u);
  EXPECT_LE(counted_->bytes(), 5u << 20);
}

TEST_F(FarReadingTest, OrFiveWithADataMap) {
  write(9000, 40000);
  const auto reader = open();
  select(*reader);
  EXPECT_LE(counted_->reads(), 5u);
  EXPECT_LE(counted_->bytes(), 5u << 20);
}

// Head, index, block and value.
TEST_F(FarReadingTest, OneBlockByItsNameTakesFourRequests) {
  write(9000);
  const auto reader = open();
  read_value(**reader->block(name_of(blocks_ - 1)));
  EXPECT_LE(counted_->reads(), 4u);
  EXPECT_LE(counted_->bytes(), 1'000'000u);
}

// Head, nodes, leaf, block and value.
TEST_F(FarReadingTest, OrFiveIfTheIndexIsLongerThanARequest) {
  write(9000);
  const auto reader = open(64 << 10);
  read_value(**reader->block(name_of(blocks_ - 1)));
  EXPECT_LE(counted_->reads(), 5u);
  EXPECT_LE(counted_->bytes(), 100'000u);
}

// The pages of later generations lie apart: root, node and leaf are read one by one.
TEST_F(FarReadingTest, AndSixAfterManyGenerations) {
  write(9000);
  for (int i = 0; i < 300; ++i) {
    FileWriterOptions options;
    options.sync = false;
    auto writer = *FileWriter::open(path(), options);
    const BlockId block = *writer->define_block(name_of(20000 + 7 * i));
    const DimId x = *writer->def_dim(block, "x", 3);
    ASSERT_TRUE(writer->def_var(block, "x", Type::kInt, {{x}}).ok());
    ASSERT_TRUE(writer->close().ok());
  }
  file_ = *FileSource::open(path());
  const auto reader = open();
  EXPECT_EQ(reader->generation(), 301u);
  read_value(**reader->block(name_of(blocks_ - 1)));
  EXPECT_LE(counted_->reads(), 6u);
  EXPECT_LE(counted_->bytes(), 100'000u);
}

TEST_F(FarReadingTest, ARangeOfNamesTakesSixRequests) {
  write(9000);
  // Dearer than the range, cheaper than the index.
  const auto reader = open(64 << 10);
  std::vector<std::string> names;
  ASSERT_TRUE(reader
                  ->for_each_entry("r0041",
                                   [&](const BlockEntry& entry) -> Result<bool> {
                                     names.push_back(entry.name);
                                     return true;
                                   })
                  .ok());
  EXPECT_EQ(names.size(), 100u);
  EXPECT_EQ(names.front(), name_of(4100));
  EXPECT_LE(counted_->reads(), 6u);
  EXPECT_LE(counted_->bytes(), 200'000u);
}

// Near places are read as before.
TEST_F(FarReadingTest, ANearFileIsReadByThePage) {
  write(9000);
  const auto reader = open(0);
  read_value(**reader->block(name_of(blocks_ - 1)));
  EXPECT_LE(counted_->bytes(), 50'000u);
  const std::uint64_t before = counted_->largest();
  select(*reader);
  EXPECT_LE(counted_->largest(), std::max<std::uint64_t>(before, 16384));
}

// Places outside of the file are reported as for a near file.
TEST_F(FarReadingTest, DamageIsTheSame) {
  write(2000);
  std::vector<std::byte> bytes(file_->size());
  ASSERT_TRUE(file_->read_at(0, bytes).ok());
  for (std::size_t at = bytes.size() - 40000; at < bytes.size() - 4096; at += 977) {
    std::vector<std::byte> damaged = bytes;
    damaged[at] ^= std::byte{0x40};
    const auto memory = std::make_shared<MemorySource>(damaged, "f");
    Status told[2];
    for (const std::size_t request : {std::size_t{0}, kRequest}) {
      ReadOptions options;
      options.request_bytes = request;
      const auto reader = FileReader::open(memory, options);
      ASSERT_TRUE(reader.ok());
      told[request != 0] = (*reader)->for_each_statistics(
          "pos", [](std::uint64_t, const VariableStatistics&) { return Result<bool>(true); });
    }
    EXPECT_EQ(told[0].text(), told[1].text()) << at;
  }
}

}  // namespace
}  // namespace nmb::test
