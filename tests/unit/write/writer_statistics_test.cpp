// Statistics that a writer keeps: of values that were put, changed, moved; gone with the values
// that they were of.
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "files/files.h"
#include "reader/file_reader.h"
#include "sources/value_source.h"
#include "superblock/head.h"
#include "support/corpus.h"
#include "support/model.h"
#include "support/programs.h"
#include "table/block_table.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

class NullFindings final : public Findings {
  void report(Finding) override {}
};

class WriterStatisticsTest : public testing::Test {
 protected:
  WriterStatisticsTest() {
    options_.piece_size = 65536;
    options_.sync = false;
    options_.overwrite = true;
    options_.statistics = StatisticsLevel::kBasic;
  }
  std::string path() const { return (folder_.path() / "f.nmb").string(); }
  std::unique_ptr<FileWriter> create() { return std::move(*FileWriter::create(path(), options_)); }
  std::unique_ptr<FileWriter> open(StatisticsLevel level) {
    options_.statistics = level;
    return std::move(*FileWriter::open(path(), options_));
  }
  // Those of a block, of a file in which nothing is wrong.
  std::optional<BlockStatistics> statistics(const std::string& block) {
    EXPECT_EQ(findings_of(std::filesystem::path(path())), "");
    const auto reader = *FileReader::open(path());
    auto found = reader->statistics(**reader->block(block));
    EXPECT_TRUE(found.ok()) << found.status().text();
    return *found;
  }
  static std::int32_t number(const std::array<std::byte, 8>& bytes) {
    std::int32_t out = 0;
    (void)convert_from_external(Type::kInt, bytes.data(), 1, MemoryType::kInt32, &out);
    return out;
  }
  // Of variable 0, ints.
  void expect(const std::string& block, std::uint64_t elements, std::uint64_t missing, int least,
              int greatest) {
    const auto found = statistics(block);
    ASSERT_TRUE(found) << block;
    const VariableStatistics& v = found->variables.at(0);
    EXPECT_EQ(v.elements, elements);
    EXPECT_EQ(v.missing, missing);
    EXPECT_EQ(number(v.minimum), least);
    EXPECT_EQ(number(v.maximum), greatest);
  }
  // Ints "v" over records of 3.
  static BlockId records_block(FileWriter& writer, const std::string& name) {
    const BlockId block = *writer.define_block(name);
    const DimId t = *writer.def_dim(block, "t", kUnlimited);
    const DimId x = *writer.def_dim(block, "x", 3);
    EXPECT_TRUE(writer.def_var(block, "v", Type::kInt, {{t, x}}).ok());
    return block;
  }
  static void put(FileWriter& writer, BlockId block, std::uint64_t record,
                  const std::vector<int>& values) {
    const Hyperslab slab{{record, 0}, {values.size() / 3, 3}, {}};
    ASSERT_TRUE(writer.put(block, 0, slab, std::span<const int>(values)).ok());
  }
  void write_two_blocks() {
    const auto writer = create();
    const BlockId a = records_block(*writer, "a"), b = records_block(*writer, "b");
    ASSERT_TRUE(writer->end_define().ok());
    put(*writer, a, 0, {1, 2, 3, 4, 5, 6});
    put(*writer, b, 0, {7, 8, 9});
    ASSERT_TRUE(writer->close().ok());
    expect("a", 6, 0, 1, 6);
    expect("b", 3, 0, 7, 9);
  }
  TemporaryFolder folder_;
  FileWriterOptions options_;
};

TEST_F(WriterStatisticsTest, ValuesThatChangeLoseThem) {
  write_two_blocks();
  auto writer = open(StatisticsLevel::kNone);
  const BlockId a = *writer->find_block("a");
  ASSERT_TRUE(writer->end_define().ok());
  put(*writer, a, 1, {0, 0, 0});
  ASSERT_TRUE(writer->close().ok());
  EXPECT_FALSE(statistics("a"));
  expect("b", 3, 0, 7, 9);
}

TEST_F(WriterStatisticsTest, OrGetNewOnes) {
  write_two_blocks();
  auto writer = open(StatisticsLevel::kHistogram);
  const BlockId a = *writer->find_block("a");
  ASSERT_TRUE(writer->end_define().ok());
  put(*writer, a, 3, {-7, 0, 0});
  ASSERT_TRUE(writer->sync().ok());
  // Record 2 was never written.
  expect("a", 12, 3, -7, 6);
  EXPECT_EQ(statistics("a")->level, StatisticsLevel::kHistogram);
  EXPECT_EQ(statistics("b")->level, StatisticsLevel::kBasic);
  put(*writer, a, 2, {100, 0, 0});
  ASSERT_TRUE(writer->close().ok());
  expect("a", 12, 0, -7, 100);
}

// The largest value, and the number of values, as text.
class Largest final : public ValueAccumulator {
 public:
  std::unique_ptr<ValueAccumulator> fresh() const override { return std::make_unique<Largest>(); }
  void add(const ValueBatch& batch) override {
    for (std::size_t i = 0; i < batch.count(); ++i) take(batch.number(i));
    count_ += batch.count() * batch.times;
  }
  void merge(const ValueAccumulator& other) override {
    const auto& from = static_cast<const Largest&>(other);
    take(from.largest_);
    count_ += from.count_;
  }
  TagValue result() const override {
    return std::to_string(count_) + " to " + std::to_string(static_cast<int>(largest_));
  }

 private:
  void take(double value) { largest_ = std::max(largest_, value); }
  double largest_ = -1e9;
  std::uint64_t count_ = 0;
};

TEST_F(WriterStatisticsTest, ResultsOfFunctionsLieBesideThem) {
  const ValueFunction largest{"largest",
                              [](std::string_view, Type) { return std::make_unique<Largest>(); }};
  options_.functions = {largest};
  write_two_blocks();
  const auto result = [&](const std::string& block) {
    const auto found = statistics(block);
    return found && found->variables.at(0).functions.size() == 1
               ? tag_text(found->variables[0].functions[0].value)
               : "none";
  };
  EXPECT_EQ(result("a"), "6 to 6");
  EXPECT_EQ(result("b"), "3 to 9");
  std::map<std::string, std::string> listed;
  const auto reader = *FileReader::open(path());
  ASSERT_TRUE(
      reader
          ->for_each_result("v", "largest",
                            [&](std::uint64_t order, const TagValue& value) -> Result<bool> {
                              listed[std::to_string(order)] = tag_text(value);
                              return true;
                            })
          .ok());
  EXPECT_EQ(listed.size(), 2u);

  // Changed values get another result, or none.
  auto writer = open(StatisticsLevel::kBasic);
  ASSERT_TRUE(writer->end_define().ok());
  put(*writer, *writer->find_block("a"), 1, {4, 5, 60});
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(result("a"), "6 to 60");
  EXPECT_EQ(result("b"), "3 to 9");
  options_.functions = {};
  writer = open(StatisticsLevel::kBasic);
  ASSERT_TRUE(writer->end_define().ok());
  put(*writer, *writer->find_block("a"), 1, {4, 5, 6});
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(result("a"), "none");
  EXPECT_EQ(result("b"), "3 to 9");
}

TEST_F(WriterStatisticsTest, FunctionsMustHaveNamesOfTheirOwn) {
  const auto make = [](std::string_view, Type) { return std::make_unique<Largest>(); };
  const auto status = [&](std::vector<ValueFunction> functions) {
    options_.functions = std::move(functions);
    return FileWriter::create(path(), options_).status().code();
  };
  EXPECT_EQ(status({{"sum", make}}), Code::kOk);
  EXPECT_EQ(status({{"sum", make}, {"sum", make}}), Code::kUsage);
  for (const char* name : {"", "min", "elements", "\xff"})
    EXPECT_EQ(status({{name, make}}), Code::kUsage) << name;
  EXPECT_EQ(status({{std::string("a\0b", 3), make}}), Code::kUsage);
  EXPECT_EQ(status({{"sum", {}}}), Code::kUsage);
  options_.statistics = StatisticsLevel::kNone;
  EXPECT_EQ(status({{"sum", make}}), Code::kUsage);
}

TEST_F(WriterStatisticsTest, ADefinitionThatChangesIsAnotherBlock) {
  for (const StatisticsLevel level : {StatisticsLevel::kNone, StatisticsLevel::kBasic}) {
    options_.statistics = StatisticsLevel::kBasic;
    write_two_blocks();
    auto writer = open(level);
    const BlockId a = *writer->find_block("a"), b = *writer->find_block("b");
    ASSERT_TRUE(
        writer->put_att(a, 0, "missing_value", Type::kInt, std::as_bytes(std::span("\0\0\0\4", 4)))
            .ok());
    ASSERT_TRUE(writer->rename_block(b, "c").ok());
    ASSERT_TRUE(writer->close().ok());
    if (level == StatisticsLevel::kNone) {
      EXPECT_FALSE(statistics("a"));
    } else {
      expect("a", 6, 1, 1, 6);
    }
    expect("c", 3, 0, 7, 9);  // a block under another name has the same values
  }
}

TEST_F(WriterStatisticsTest, ABlockThatIsRemovedTakesThemAlong) {
  write_two_blocks();
  auto writer = open(StatisticsLevel::kNone);
  ASSERT_TRUE(writer->remove_block(*writer->find_block("a")).ok());
  ASSERT_TRUE(writer->close().ok());
  expect("b", 3, 0, 7, 9);
  writer = open(StatisticsLevel::kNone);
  ASSERT_TRUE(writer->remove_block(*writer->find_block("b")).ok());
  const BlockId b = records_block(*writer, "b");
  ASSERT_TRUE(writer->end_define().ok());
  put(*writer, b, 0, {1, 1, 1});
  ASSERT_TRUE(writer->close().ok());
  EXPECT_FALSE(statistics("b"));
}

TEST_F(WriterStatisticsTest, MovedValuesInManyForms) {
  // Bytes that a window's edge cuts: shorts ahead of doubles.
  const std::uint64_t n = 3 * 65536 / 8;
  const auto define = [&](FileWriter& writer, const std::string& name) {
    const BlockId block = *writer.define_block(name);
    const DimId x = *writer.def_dim(block, "x", n);
    EXPECT_TRUE(writer.def_var(block, "s", Type::kInt, {}).ok());
    EXPECT_TRUE(writer.def_var(block, "d", Type::kDouble, {{x}}).ok());
    return block;
  };
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), -5.0);
  std::vector<std::byte> extent(4 + 8 * n);
  (void)convert_to_external(MemoryType::kDouble, values.data(), n, Type::kDouble,
                            extent.data() + 4);
  const auto source = owned_bytes(extent, "values");
  for (const unsigned threads : {1u, 3u}) {
    options_.threads = threads;
    const auto writer = create();
    const BlockId moved = define(*writer, "moved"), put = define(*writer, "put");
    ASSERT_TRUE(writer->end_define().ok());
    ASSERT_TRUE(writer->take_values(moved, source, {{0, 0, 0, 0, extent.size(), 1}}).ok());
    ASSERT_TRUE(writer->put(put, 0, std::span<const int>(std::vector<int>{0})).ok());
    ASSERT_TRUE(writer->put(put, 1, std::span<const double>(values)).ok());
    ASSERT_TRUE(writer->close().ok());
    const auto a = statistics("moved"), b = statistics("put");
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->variables, b->variables);
    EXPECT_EQ(a->variables[1].elements, n);
    EXPECT_EQ(a->not_computed(), 0u);
  }
}

TEST_F(WriterStatisticsTest, TreesOfManyGenerationsStayFew) {
  constexpr int kBlocks = 700, kGenerations = 40;
  auto writer = create();
  std::vector<BlockId> blocks;
  for (int i = 0; i < kBlocks; ++i)
    blocks.push_back(records_block(*writer, "b" + std::to_string(i)));
  ASSERT_TRUE(writer->end_define().ok());
  for (int i = 0; i < kBlocks; ++i) put(*writer, blocks[static_cast<std::size_t>(i)], 0, {i, i, i});
  ASSERT_TRUE(writer->close().ok());
  std::size_t most = 0;
  for (int g = 1; g <= kGenerations; ++g) {
    writer = open(g % 5 == 0 ? StatisticsLevel::kNone : StatisticsLevel::kBasic);
    // Block 0 each time, others now and then, 600 is removed, 601 renamed.
    std::vector<BlockId> changed{*writer->find_block("b0")};
    for (int i = 1; i < g; ++i)
      changed.push_back(*writer->find_block("b" + std::to_string(g * 7 + i)));
    if (g == 20) {
      ASSERT_TRUE(writer->remove_block(*writer->find_block("b600")).ok());
    } else if (g == 21) {
      ASSERT_TRUE(writer->rename_block(*writer->find_block("b601"), "c").ok());
    }
    ASSERT_TRUE(writer->end_define().ok());
    for (const BlockId block : changed) put(*writer, block, 1, {1000 + g, -g, g});
    ASSERT_TRUE(writer->close().ok());
    const auto file = *FileSource::open(path());
    NullFindings ignored;
    const Head head = *read_head(*file, ignored);
    const BlockTable table(*file, head.superblock, PageUse::kStatistics);
    const auto trees = table.trees();
    ASSERT_TRUE(trees.ok()) << trees.status().text();
    // One row is the place of the tree before.
    for (std::size_t i = 0; i + 1 < trees->size(); ++i)
      EXPECT_LT(2 * ((*trees)[i].rows - 1), (*trees)[i + 1].rows) << g;
    most = std::max(most, trees->size());
  }
  EXPECT_GT(most, 2u);
  EXPECT_LT(most, 12u);
  EXPECT_FALSE(statistics("b0"));  // by a generation that counts nothing
  expect("b222", 6, 0, -31, 1031);
  expect("c", 3, 0, 601, 601);
  // One name of all blocks: as block by block.
  const auto reader = *FileReader::open(path());
  std::map<std::uint64_t, VariableStatistics> found;
  ASSERT_TRUE(reader
                  ->for_each_statistics("v",
                                        [&](std::uint64_t order, const VariableStatistics& v) {
                                          EXPECT_TRUE(found.emplace(order, v).second) << order;
                                          return Result<bool>(true);
                                        })
                  .ok());
  std::size_t with = 0;
  ASSERT_TRUE(reader
                  ->for_each_entry("",
                                   [&](const BlockEntry& entry) -> Result<bool> {
                                     const auto block = *reader->block(entry);
                                     const auto one = *reader->statistics(*block);
                                     EXPECT_EQ(one.has_value(), found.contains(entry.order));
                                     if (one) {
                                       EXPECT_EQ(one->variables.at(0), found.at(entry.order));
                                       ++with;
                                     }
                                     return true;
                                   })
                  .ok());
  EXPECT_GT(with, 400u);
}

TEST_F(WriterStatisticsTest, ADryRunKeepsNone) {
  options_.dry_run = true;
  EXPECT_EQ(FileWriter::create(path(), options_).status().code(), Code::kUsage);
}

}  // namespace
}  // namespace nmb::test
