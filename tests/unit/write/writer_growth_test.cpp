// Growth pages as the writer makes them, continues them and takes them in (spec/format.md,
// section 10.4).
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "files/files.h"
#include "reader/extent_pieces.h"
#include "reader/file_reader.h"
#include "reader/reader_core.h"
#include "support/corpus.h"
#include "support/faulty_output.h"
#include "support/model.h"
#include "support/programs.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

constexpr std::uint64_t kWidth = 5;

class WriterGrowthTest : public testing::Test {
 protected:
  WriterGrowthTest() {
    options_.piece_size = 65536;
    options_.sync = false;
    options_.overwrite = true;
    options_.map_rows = 3;
  }
  std::string path() const { return (folder_.path() / "f.nmb").string(); }
  std::unique_ptr<FileWriter> create() { return *FileWriter::create(path(), options_); }
  std::unique_ptr<FileWriter> open() {
    auto writer = FileWriter::open(path(), options_);
    EXPECT_TRUE(writer.ok()) << writer.status().text();
    return std::move(*writer);
  }
  std::unique_ptr<FileWriter> open_to_put() {
    auto writer = open();
    EXPECT_TRUE(writer->end_define().ok());
    return writer;
  }
  // Shorts "v" over records of kWidth: records of 10 bytes, which is no multiple of 8.
  BlockId define(FileWriter& writer, const std::string& name) {
    const BlockId block = *writer.define_block(name);
    const DimId t = *writer.def_dim(block, "t", kUnlimited);
    const DimId x = *writer.def_dim(block, "x", kWidth);
    EXPECT_TRUE(writer.def_var(block, "v", Type::kShort, {{t, x}}).ok());
    model_[name];
    return block;
  }
  // So many records of a block from `record` on.
  void put(FileWriter& writer, BlockId block, const std::string& name, std::uint64_t record,
           std::uint64_t count = 1) {
    std::vector<short> values(count * kWidth);
    for (short& value : values) value = next_++;
    const Hyperslab slab{{record, 0}, {count, kWidth}, {}};
    const Status status = writer.put(block, 0, slab, std::span<const short>(values));
    ASSERT_TRUE(status.ok()) << status.text();
    std::vector<short>& all = model_[name];
    if (all.size() < (record + count) * kWidth) all.resize((record + count) * kWidth, kFill);
    std::copy(values.begin(), values.end(),
              all.begin() + static_cast<std::ptrdiff_t>(record * kWidth));
  }
  void grow(FileWriter& writer, BlockId block, const std::string& name, std::uint64_t count = 1) {
    put(writer, block, name, model_[name].size() / kWidth, count);
  }
  // Readers see what was put, and the file is sound.
  void check() {
    EXPECT_EQ(findings_of(std::filesystem::path(path())), "");
    const auto reader = *FileReader::open(path());
    EXPECT_EQ(reader->totals().blocks, model_.size());
    std::uint64_t records = 0;
    for (const auto& [name, values] : model_) {
      const auto block = reader->block(name);
      ASSERT_TRUE(block.ok()) << block.status().text();
      EXPECT_EQ((*block)->records, values.size() / kWidth) << name;
      EXPECT_TRUE(*(*block)->read_all<short>(0) == values) << name;
      records += values.size() / kWidth;
    }
    EXPECT_EQ(reader->totals().records, records);
  }
  struct State {
    Superblock superblock;
    std::size_t pages = 0, rows = 0;
    std::map<std::string, BlockEntry> entries;
  };
  State state() const {
    const auto file = *FileSource::open(path());
    FirstFinding ignored;
    const ReaderCore core(*file, *read_head(*file, ignored));
    State out{core.head().superblock, 0, 0, {}};
    if (!core.index().growth().absent()) {
      const auto pages = core.index().growth().pages();
      EXPECT_TRUE(pages.ok()) << pages.status().text();
      for (const auto& page : *pages) {
        ++out.pages;
        out.rows += page->rows();
      }
    }
    EXPECT_TRUE(core.index()
                    .for_each({},
                              [&](const BlockEntry& entry) -> Result<bool> {
                                out.entries[entry.name] = entry;
                                return true;
                              })
                    .ok());
    return out;
  }
  // Two blocks that grow, "a" with a first record, and in two growth pages.
  void write_grown() {
    const auto writer = create();
    const BlockId a = define(*writer, "a"), b = define(*writer, "b"), c = define(*writer, "c");
    ASSERT_TRUE(writer->end_define().ok());
    grow(*writer, a, "a", 2);
    grow(*writer, c, "c");
    ASSERT_TRUE(writer->sync().ok());
    grow(*writer, a, "a");
    grow(*writer, b, "b", 3);
    ASSERT_TRUE(writer->sync().ok());
    grow(*writer, b, "b");
    ASSERT_TRUE(writer->close().ok());
    EXPECT_EQ(state().pages, 2u);
    check();
  }

  static constexpr short kFill = -32767;
  TemporaryFolder folder_;
  FileWriterOptions options_;
  std::map<std::string, std::vector<short>> model_;
  short next_ = 1;
};

TEST_F(WriterGrowthTest, GrowthIsAllThatACommitWrites) {
  const auto writer = create();
  const BlockId a = define(*writer, "a"), b = define(*writer, "b");
  ASSERT_TRUE(writer->end_define().ok());
  grow(*writer, a, "a", 2);
  ASSERT_TRUE(writer->sync().ok());
  const State before = state();
  EXPECT_EQ(before.pages, 0u);
  grow(*writer, a, "a");
  grow(*writer, b, "b");
  ASSERT_TRUE(writer->sync().ok());
  const State after = state();
  EXPECT_EQ(after.pages, 1u);
  EXPECT_EQ(after.superblock.root_position, before.superblock.root_position);
  EXPECT_TRUE(after.superblock.dead_map.absent());
  EXPECT_EQ(after.entries.at("a").map.position, before.entries.at("a").map.position);
  EXPECT_GT(after.entries.at("a").growth, 0u);
  EXPECT_EQ(after.entries.at("a").grown_records, 1u);
  check();
  ASSERT_TRUE(writer->close().ok());
}

// A record that was never put is a hole without a growth row. The block has fixed values right
// behind its header; nothing is put into it.
TEST_F(WriterGrowthTest, SpaceThatNobodyPutsToLeavesOtherBlocksAlone) {
  constexpr std::uint64_t kRecords = 2000;
  for (const bool committed : {false, true}) {
    model_.clear();
    auto writer = create();
    const BlockId empty = define(*writer, "a");
    const DimId y = *writer->def_dim(empty, "y", 20);
    ASSERT_TRUE(writer->def_var(empty, "fixed", Type::kDouble, {{y}}).ok());
    const BlockId full = define(*writer, "b");
    ASSERT_TRUE(writer->end_define().ok());
    if (committed) {
      ASSERT_TRUE(writer->sync().ok());
    }
    ASSERT_TRUE(writer->extend(full, kRecords).ok());
    grow(*writer, full, "b", kRecords);
    ASSERT_TRUE(writer->extend(empty, kRecords).ok());
    model_["a"].resize(kRecords * kWidth, kFill);
    ASSERT_TRUE(writer->close().ok());
    check();
  }
}

TEST_F(WriterGrowthTest, HolesGoToTheMap) {
  write_grown();
  const auto writer = open_to_put();
  const BlockId c = *writer->find_block("c");
  put(*writer, c, "c", 20000, 2);
  ASSERT_TRUE(writer->sync().ok());
  EXPECT_EQ(state().pages, 2u);
  EXPECT_TRUE(state().entries.at("c").has_map());
  check();
  // And those that have rows take them along.
  put(*writer, *writer->find_block("a"), "a", 20000);
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(state().pages, 0u);
  check();
}

// Padding, and a small variable that is not put, are no holes.
TEST_F(WriterGrowthTest, RecordsNeedNotBePutWhole) {
  const auto writer = create();
  const BlockId block = *writer->define_block("p");
  const DimId t = *writer->def_dim(block, "t", kUnlimited), x = *writer->def_dim(block, "x", 3);
  for (const char* name : {"u", "v", "w"})
    ASSERT_TRUE(writer->def_var(block, name, Type::kShort, {{t, x}}).ok());
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->sync().ok());
  const std::vector<short> values{1, 2, 3};
  for (std::uint64_t r = 0; r < 3; ++r) {
    for (const VarId v : {0u, 2u})
      ASSERT_TRUE(writer->put(block, v, {{r, 0}, {1, 3}, {}}, std::span<const short>(values)).ok());
    ASSERT_TRUE(writer->sync().ok());
    EXPECT_EQ(state().pages, r + 1);
  }
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(findings_of(std::filesystem::path(path())), "");
  const auto found = *(*FileReader::open(path()))->block("p");
  const std::vector<short> all{1, 2, 3, 1, 2, 3, 1, 2, 3}, none(9, kFill);
  EXPECT_EQ(*found->read_all<short>(0), all);
  EXPECT_EQ(*found->read_all<short>(1), none);
  EXPECT_EQ(*found->read_all<short>(2), all);
}

TEST_F(WriterGrowthTest, WritersGoOnWithTheRowsOfOthers) {
  write_grown();
  for (int i = 0; i < 4; ++i) {
    const auto writer = open_to_put();
    grow(*writer, *writer->find_block(i % 2 == 0 ? "a" : "c"), i % 2 == 0 ? "a" : "c");
    ASSERT_TRUE(writer->close().ok());
    EXPECT_EQ(state().pages, static_cast<std::size_t>(3 + i));
    check();
  }
}

// Other blocks come and go beside rows of growth.
TEST_F(WriterGrowthTest, OtherChangesLeaveRowsAlone) {
  write_grown();
  auto writer = open();
  const BlockId d = define(*writer, "d");
  ASSERT_TRUE(writer->rename_block(*writer->find_block("c"), "c2").ok());
  model_["c2"] = model_.extract("c").mapped();
  ASSERT_TRUE(writer->end_define().ok());
  grow(*writer, d, "d", 2);
  grow(*writer, *writer->find_block("b"), "b");
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(state().pages, 3u);
  check();
  writer = open();
  ASSERT_TRUE(writer->remove_block(*writer->find_block("c2")).ok());
  model_.erase("c2");
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(state().pages, 3u);
  check();
}

// A block with rows that changes otherwise: no row is left that does not apply.
TEST_F(WriterGrowthTest, OtherChangesOfAGrownBlockFold) {
  const auto change = [&](const std::function<void(FileWriter&, BlockId)>& work) {
    model_.clear();
    write_grown();
    auto writer = open();
    work(*writer, *writer->find_block("a"));
    ASSERT_TRUE(writer->close().ok());
    EXPECT_EQ(state().pages, 0u);
    EXPECT_FALSE(state().superblock.readonly_compatible & kFeatureGrowth);
    check();
  };
  const auto put_record = [&](std::uint64_t record) {
    return [this, record](FileWriter& writer, BlockId a) {
      ASSERT_TRUE(writer.end_define().ok());
      put(writer, a, "a", record);
    };
  };
  change(put_record(0));
  change(put_record(2));
  change([&](FileWriter& writer, BlockId a) {
    ASSERT_TRUE(writer.end_define().ok());
    put(writer, a, "a", 1, 5);  // committed values and new ones
  });
  change([&](FileWriter& writer, BlockId a) {
    ASSERT_TRUE(writer.rename_block(a, "z").ok());
    model_["z"] = model_.extract("a").mapped();
  });
  change([&](FileWriter& writer, BlockId a) {
    ASSERT_TRUE(writer.rename_block(a, "z").ok());
    model_["z"] = model_.extract("a").mapped();
    ASSERT_TRUE(writer.end_define().ok());
    grow(writer, a, "z");
  });
  change([&](FileWriter& writer, BlockId a) {
    ASSERT_TRUE(writer.put_att_text(a, kGlobal, "note", "text").ok());
    ASSERT_TRUE(writer.end_define().ok());
    grow(writer, a, "a");
  });
  change([&](FileWriter& writer, BlockId a) {
    ASSERT_TRUE(writer.def_var(a, "w", Type::kInt, {{0}}).ok());
  });
  change([&](FileWriter& writer, BlockId a) {
    ASSERT_TRUE(writer.remove_block(a).ok());
    model_.erase("a");
  });
}

TEST_F(WriterGrowthTest, StatisticsAndViewsFold) {
  write_grown();
  options_.statistics = StatisticsLevel::kBasic;
  {
    const auto writer = open_to_put();
    grow(*writer, *writer->find_block("c"), "c");
    ASSERT_TRUE(writer->close().ok());
    EXPECT_EQ(state().pages, 0u);
    check();
    const auto reader = *FileReader::open(path());
    for (const char* name : {"a", "b", "c"})
      EXPECT_TRUE(*reader->statistics(**reader->block(name))) << name;
  }
  // Those of a block that has rows do not count, nor do they when the rows are folded.
  options_.statistics = StatisticsLevel::kNone;
  options_.hdf5_view = Hdf5View::kOn;
  {
    const auto writer = open_to_put();
    grow(*writer, *writer->find_block("a"), "a");
    ASSERT_TRUE(writer->sync().ok());
    EXPECT_EQ(state().pages, 1u);
    check();
    EXPECT_FALSE(
        *(*FileReader::open(path()))->statistics(**(*FileReader::open(path()))->block("a")));
    ASSERT_TRUE(writer->close().ok());
  }
  EXPECT_EQ(state().pages, 0u);
  EXPECT_FALSE(state().superblock.view.absent());
  check();
  EXPECT_FALSE(*(*FileReader::open(path()))->statistics(**(*FileReader::open(path()))->block("a")));
  EXPECT_TRUE(*(*FileReader::open(path()))->statistics(**(*FileReader::open(path()))->block("b")));
}

// A block that grows and nothing else: one page a commit, and now and then all at once to the map.
TEST_F(WriterGrowthTest, ChainsHaveAnEnd) {
  auto writer = create();
  const BlockId a = define(*writer, "a"), b = define(*writer, "b");
  ASSERT_TRUE(writer->end_define().ok());
  grow(*writer, b, "b");
  ASSERT_TRUE(writer->sync().ok());
  grow(*writer, b, "b");
  ASSERT_TRUE(writer->sync().ok());
  std::size_t most = 0, folds = 0, last = 1;
  for (int i = 0; i < 1100; ++i) {
    grow(*writer, a, "a");
    ASSERT_TRUE(writer->sync().ok());
    if (i % 64 != 0 && i < 505) continue;
    const std::size_t pages = state().pages;
    most = std::max(most, pages);
    folds += pages < last;
    last = pages;
    if (i % 64 == 0) check();
  }
  EXPECT_EQ(folds, 2u);
  EXPECT_EQ(most, 512u);
  ASSERT_TRUE(writer->close().ok());
  check();
}

TEST_F(WriterGrowthTest, CommitsWriteWhatIsNew) {
  std::vector<OutputCall> calls;
  options_.layer = recording(calls);
  const auto writer = create();
  const BlockId a = define(*writer, "a");
  ASSERT_TRUE(writer->end_define().ok());
  std::vector<std::size_t> made;
  std::vector<std::uint64_t> bytes;
  for (int i = 0; i < 400; ++i) {
    grow(*writer, a, "a");
    calls.clear();
    ASSERT_TRUE(writer->sync().ok());
    made.push_back(calls.size());
    std::uint64_t written = 0;
    for (const OutputCall& call : calls) written += call.bytes.size();
    bytes.push_back(written);
  }
  EXPECT_LE(made.back(), made[10] + 1);
  EXPECT_LE(bytes.back(), bytes[10] + bytes[10] / 5);
}

// Everything that may happen to blocks, in an order that a seed chooses.
TEST_F(WriterGrowthTest, ManyGenerationsAreAsAModelSays) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto one_in = [&](unsigned n) { return random() % n == 0; };
    model_.clear();
    options_.map_rows = 2 + seed;
    auto writer = create();
    for (int i = 0; i < 6; ++i) define(*writer, "b" + std::to_string(i));
    ASSERT_TRUE(writer->end_define().ok());
    ASSERT_TRUE(writer->sync().ok());
    int named = 6;
    for (int step = 0; step < 250; ++step) {
      if (one_in(20)) {
        ASSERT_TRUE(writer->close().ok());
        writer = open_to_put();
      }
      if (one_in(10)) {
        ASSERT_TRUE(writer->redefine().ok());
        auto any = std::next(model_.begin(), static_cast<long>(random() % model_.size()));
        const std::string name = any->first;
        const BlockId block = *writer->find_block(name);
        switch (random() % 4) {
          case 0:
            if (model_.size() == 1) break;
            ASSERT_TRUE(writer->remove_block(block).ok());
            model_.erase(name);
            break;
          case 1:
            ASSERT_TRUE(writer->rename_block(block, "n" + std::to_string(named)).ok());
            model_["n" + std::to_string(named++)] = model_.extract(name).mapped();
            break;
          case 2:
            ASSERT_TRUE(
                writer->put_att_text(block, kGlobal, "note" + std::to_string(named++), "text")
                    .ok());
            break;
          default:
            define(*writer, "b" + std::to_string(named++));
        }
        ASSERT_TRUE(writer->end_define().ok());
      }
      for (auto& [name, values] : model_) {
        const BlockId block = *writer->find_block(name);
        if (one_in(3)) grow(*writer, block, name, 1 + random() % 3);
        if (one_in(40) && !values.empty())
          put(*writer, block, name, random() % (values.size() / kWidth));
        if (one_in(60)) put(*writer, block, name, values.size() / kWidth + 7000);
      }
      ASSERT_TRUE(writer->sync().ok());
      if (step % 25 == 0) check();
      if (testing::Test::HasFailure()) return;
    }
    ASSERT_TRUE(writer->close().ok());
    check();
  }
}

// Every third element of a block without values: what lies between takes no piece of its own.
TEST_F(WriterGrowthTest, StridedValuesInAHoleShareTheirPieces) {
  constexpr std::uint64_t kLength = 100'000;
  {
    const auto writer = create();
    const BlockId block = *writer->define_block("b");
    const DimId x = *writer->def_dim(block, "x", kLength);
    ASSERT_TRUE(writer->def_var(block, "v", Type::kByte, {{x}}).ok());
    ASSERT_TRUE(writer->end_define().ok());
    ASSERT_TRUE(writer->close().ok());
  }
  {
    const auto writer = open_to_put();
    const std::vector<signed char> values((kLength + 2) / 3, 7);
    const Hyperslab slab{{0}, {values.size()}, {3}};
    ASSERT_TRUE(writer->put(*writer->find_block("b"), 0, slab, std::span(values)).ok());
    ASSERT_TRUE(writer->close().ok());
  }
  const auto reader = *FileReader::open(path());
  EXPECT_LE(extent_pieces(*reader, **reader->find("b"))->size(), kLength / 65536 + 2);
  const std::vector<signed char> all = *(*reader->block("b"))->read_all<signed char>(0);
  for (std::uint64_t i = 0; i < kLength; ++i) ASSERT_EQ(all[i], i % 3 == 0 ? 7 : -127) << i;
  EXPECT_TRUE(findings_of(std::filesystem::path(path())).empty());
}

}  // namespace
}  // namespace nmb::test
