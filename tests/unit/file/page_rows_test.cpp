// Pages of other numbers of rows than the usual ones: the file says which, and its writers keep to
// them (spec/format.md, sections 5.1 and 7).
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "files/files.h"
#include "reader/file_reader.h"
#include "reader/reader_core.h"
#include "superblock/head.h"
#include "support/model.h"
#include "support/programs.h"
#include "support/vectors.h"
#include "writer/file_writer.h"

namespace nmb {
namespace {

class PageRowsTest : public testing::Test {
 protected:
  PageRowsTest() {
    options_.sync = false;
    options_.piece_size = 65536;
    options_.leaf_rows = 3;
    options_.node_rows = 4;
    options_.map_rows = 2;
  }
  std::string path() const { return (folder_.path() / "f.nmb").string(); }
  static std::string name(int i) { return "b" + std::to_string(1000 + i); }
  // Blocks [from, to), the first of several pieces.
  Status write(FileWriter& writer, int from, int to) const {
    for (int i = from; i < to; ++i) {
      NMB_ASSIGN(const BlockId block, writer.define_block(name(i)));
      NMB_ASSIGN(const DimId x, writer.def_dim(block, "x", length(i)));
      NMB_TRY(writer.def_var(block, "v", Type::kInt, {{x}}).status());
    }
    NMB_TRY(writer.end_define());
    for (int i = from; i < to; ++i) {
      NMB_ASSIGN(const BlockId block, writer.find_block(name(i)));
      const std::vector<int> values(length(i), i);
      NMB_TRY(writer.put(block, 0, std::span<const int>(values)));
    }
    return writer.close();
  }
  static std::uint64_t length(int i) { return i % 10 == 0 ? 100000 : 2; }
  void check(int blocks) const {
    EXPECT_EQ(test::findings_of(std::filesystem::path(path())), "");
    const auto reader = *FileReader::open(path());
    EXPECT_EQ(reader->totals().blocks, static_cast<std::uint64_t>(blocks));
    for (int i = 0; i < blocks; ++i)
      EXPECT_EQ(*(*reader->block(name(i)))->read_all<int>(0), std::vector<int>(length(i), i)) << i;
  }
  Superblock superblock() const {
    const auto file = *FileSource::open(path());
    test::FindingList findings;
    return read_head(*file, findings)->superblock;
  }
  test::TemporaryFolder folder_;
  FileWriterOptions options_;
};

TEST_F(PageRowsTest, AreThoseAskedForAndStay) {
  ASSERT_TRUE(write(**FileWriter::create(path(), options_), 0, 40).ok());
  check(40);
  EXPECT_EQ(superblock().leaf_rows, 3u);
  EXPECT_EQ(superblock().height, 3u);  // 14 leaves, 4 nodes, a root
  // A later writer's options do not count.
  FileWriterOptions others;
  others.sync = false;
  ASSERT_TRUE(write(**FileWriter::open(path(), others), 40, 60).ok());
  check(60);
  EXPECT_EQ(superblock().leaf_rows, 3u);
  EXPECT_EQ(superblock().node_rows, 4u);
  EXPECT_EQ(superblock().map_rows, 2u);
}

TEST_F(PageRowsTest, AreBounded) {
  for (const std::uint32_t rows : {0u, 1u, 65537u}) {
    FileWriterOptions options;
    (rows == 0 ? options.leaf_rows : rows == 1 ? options.node_rows : options.map_rows) = rows;
    EXPECT_EQ(FileWriter::create(path(), options).status().code(), Code::kUsage) << rows;
  }
  // Too few for an index of height 10.
  options_.leaf_rows = options_.node_rows = 2;
  auto writer = *FileWriter::create(path(), options_);
  for (int i = 0; i < 1025; ++i) ASSERT_TRUE(writer->define_block(name(i)).ok());
  EXPECT_EQ(writer->close().code(), Code::kLimit);
}

}  // namespace
}  // namespace nmb
