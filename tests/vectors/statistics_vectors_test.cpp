// Statistics in files that this library does not write: of blocks that grow, and with what a later
// version of the format adds to their rows (spec/format.md, sections 6 and 9.2).
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "files/files.h"
#include "reader/file_reader.h"
#include "reader/reader_core.h"
#include "superblock/head.h"
#include "support/corpus.h"
#include "support/programs.h"
#include "support/vectors.h"
#include "verify/verify.h"
#include "writer/file_writer.h"

namespace nmb {
namespace {

namespace fs = std::filesystem;

TEST(StatisticsVectors, ThoseOfBlocksThatGrewDoNotCount) {
  NMB_NEEDS_VECTORS();
  const auto reader =
      *FileReader::open((test::vectors() / "growth_of_a_counted_block.nmb").string());
  EXPECT_FALSE(reader->statistics(**reader->block("a"))->has_value());
  EXPECT_TRUE(reader->statistics(**reader->block("b"))->has_value());
  std::vector<std::uint64_t> orders;
  ASSERT_TRUE(reader
                  ->for_each_statistics(
                      "v",
                      [&](std::uint64_t order, const VariableStatistics&) -> Result<bool> {
                        orders.push_back(order);
                        return true;
                      })
                  .ok());
  EXPECT_EQ(orders, (std::vector{(*reader->find("b"))->order}));
}

class LaterStatisticsTest : public testing::Test {
 protected:
  LaterStatisticsTest() {
    if (!test::vectors().empty())
      fs::copy_file(test::vectors() / "future_columns_of_statistics.nmb", path());
  }
  std::string path() const { return (folder_.path() / "f.nmb").string(); }
  // By order of a block: what the row of "v" has that this version does not know.
  using Unknown = std::map<std::uint64_t, std::vector<std::pair<std::uint16_t, std::uint64_t>>>;
  Unknown unknown(std::size_t trees) const {
    const auto file = *FileSource::open(path());
    test::FindingList findings;
    EXPECT_TRUE(verify(*file, {}, findings).ok());
    EXPECT_TRUE(findings.list.empty()) << findings.text();
    const ReaderCore core(*file, *read_head(*file, findings));
    EXPECT_EQ(core.statistics().trees()->size(), trees);
    Unknown out;
    EXPECT_TRUE(core.statistics()
                    .for_each("v",
                              [&](const FoundRow& found) -> Result<bool> {
                                auto& values = out[found.value().order];
                                for (const UnknownValue& value :
                                     found.page->unknown_values(found.row))
                                  values.emplace_back(value.id, value.value.low);
                                return true;
                              })
                    .ok());
    return out;
  }
  static FileWriterOptions options() {
    FileWriterOptions options;
    options.sync = false;
    options.statistics = StatisticsLevel::kBasic;
    return options;
  }

  test::TemporaryFolder folder_;
};

TEST_F(LaterStatisticsTest, RowsThatAreCopiedKeepWhatIsNotKnown) {
  NMB_NEEDS_VECTORS();
  const Unknown before = unknown(1);
  ASSERT_EQ(before.size(), 2u);
  for (const auto& [order, values] : before) EXPECT_EQ(values.size(), 4u) << order;
  const auto writer = *FileWriter::open(path(), options());
  const BlockId c = *writer->define_block("c");
  const VarId v = *writer->def_var(c, "v", Type::kInt, {});
  ASSERT_TRUE(writer->end_define().ok());
  const int value = 9;
  ASSERT_TRUE(writer->put(c, v, {}, std::span(&value, 1)).ok());
  ASSERT_TRUE(writer->close().ok());
  // The tree before was taken into the new one.
  Unknown after = unknown(1);
  const std::uint64_t order_of_c = (*(*FileReader::open(path()))->find("c"))->order;
  EXPECT_TRUE(after.at(order_of_c).empty());
  after.erase(order_of_c);
  EXPECT_EQ(after, before);
}

// Its structure is dead then, or nmverify would find bytes that belong to nothing.
TEST_F(LaterStatisticsTest, ARowThatIsLeftOutTakesItsStructureAlong) {
  NMB_NEEDS_VECTORS();
  Unknown before = unknown(1);
  before.erase((*(*FileReader::open(path()))->find("b"))->order);
  const auto writer = *FileWriter::open(path(), options());
  ASSERT_TRUE(writer->remove_block(*writer->find_block("b")).ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(unknown(1), before);
}

}  // namespace
}  // namespace nmb
