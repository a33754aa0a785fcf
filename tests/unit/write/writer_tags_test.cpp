// Tags that a writer gives to blocks: their values, their rules, and the generations after them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "reader/file_reader.h"
#include "support/corpus.h"
#include "support/model.h"
#include "support/programs.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

class WriterTagsTest : public testing::Test {
 protected:
  std::string path() const { return (folder_.path() / "f.nmb").string(); }
  std::unique_ptr<FileWriter> create() { return std::move(*FileWriter::create(path(), options())); }
  std::unique_ptr<FileWriter> open() { return std::move(*FileWriter::open(path(), options())); }
  static FileWriterOptions options() {
    FileWriterOptions options;
    options.sync = false;
    options.overwrite = true;
    return options;
  }
  // The values of a tag by names of blocks, in a file without findings.
  std::map<std::string, std::string> tags(std::string_view name) {
    EXPECT_EQ(findings_of(std::filesystem::path(path())), "");
    const auto reader = *FileReader::open(path());
    std::map<std::uint64_t, std::string> names;
    EXPECT_TRUE(reader
                    ->for_each_entry("",
                                     [&](const BlockEntry& entry) -> Result<bool> {
                                       names[entry.order] = entry.name;
                                       return true;
                                     })
                    .ok());
    std::map<std::string, std::string> found;
    EXPECT_TRUE(reader
                    ->for_each_tag(name,
                                   [&](std::uint64_t order, const TagValue& v) -> Result<bool> {
                                     if (names.contains(order))
                                       found[names[order]] =
                                           std::to_string(v.index()) + " " + tag_text(v);
                                     return true;
                                   })
                    .ok());
    return found;
  }
  using Found = std::map<std::string, std::string>;

  TemporaryFolder folder_;
};

TEST_F(WriterTagsTest, KeepsValuesOfAllTypes) {
  const auto writer = create();
  const std::vector<TagValue> values{std::string("a"),
                                     std::string(),
                                     std::string("\xc3\xa9"),
                                     std::numeric_limits<std::int64_t>::min(),
                                     std::int64_t{0},
                                     std::numeric_limits<std::uint64_t>::max(),
                                     0.1,
                                     -0.0,
                                     4.0,
                                     std::nan(""),
                                     std::numeric_limits<double>::infinity(),
                                     -std::numeric_limits<double>::max()};
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_TRUE(
        writer->set_tag(*writer->define_block("b" + std::to_string(10 + i)), "t", values[i]).ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(tags("t"), (Found{{"b10", "0 a"},
                              {"b11", "0 "},
                              {"b12", "0 \xc3\xa9"},
                              {"b13", "1 -9223372036854775808"},
                              {"b14", "1 0"},
                              {"b15", "2 18446744073709551615"},
                              {"b16", "3 0.1"},
                              {"b17", "3 -0.0"},
                              {"b18", "3 4.0"},
                              {"b19", "3 NaN"},
                              {"b20", "3 Infinity"},
                              {"b21", "3 -1.7976931348623157e+308"}}));
}

TEST_F(WriterTagsTest, TheLastValueCounts) {
  const auto writer = create();
  const BlockId block = *writer->define_block("b");
  ASSERT_TRUE(writer->set_tag(block, "t", 1.5).ok());
  ASSERT_TRUE(writer->set_tag(block, "u", std::string("x")).ok());
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->redefine().ok());
  ASSERT_TRUE(writer->set_tag(block, "t", std::int64_t{2}).ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(tags("t"), (Found{{"b", "1 2"}}));
  EXPECT_EQ(tags("u"), (Found{{"b", "0 x"}}));
}

TEST_F(WriterTagsTest, RefusesWhatTheFormatCannotHold) {
  const auto writer = create();
  const BlockId block = *writer->define_block("b");
  const std::string longest(65535, 'n');
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, TagValue>>{{"", 1.0},
                                                     {longest + "n", 1.0},
                                                     {std::string("a\0b", 3), 1.0},
                                                     {"\xff", 1.0},
                                                     {"t", std::string("a\0b", 3)},
                                                     {"t", std::string("\xff")}})
    EXPECT_EQ(writer->set_tag(block, name, value).code(), Code::kUsage) << name;
  EXPECT_EQ(writer->set_tag(block + 1, "t", 1.0).code(), Code::kUsage);
  EXPECT_TRUE(writer->set_tag(block, longest, 1.0).ok());
  ASSERT_TRUE(writer->end_define().ok());
  EXPECT_EQ(writer->set_tag(block, "t", 1.0).code(), Code::kUsage);  // outside define mode
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(tags(longest), (Found{{"b", "3 1.0"}}));
}

TEST_F(WriterTagsTest, StayWithTheirBlocksInLaterGenerations) {
  {
    const auto writer = create();
    for (const char* name : {"a", "b", "c", "d"})
      ASSERT_TRUE(
          writer->set_tag(*writer->define_block(name), "t", std::string("of ") + name).ok());
    ASSERT_TRUE(writer->close().ok());
  }
  {
    const auto writer = open();
    EXPECT_EQ(writer->set_tag(*writer->find_block("a"), "t", 1.0).code(), Code::kUnsupported);
    ASSERT_TRUE(writer->put_att_text(*writer->find_block("a"), kGlobal, "title", "x").ok());
    ASSERT_TRUE(writer->rename_block(*writer->find_block("b"), "e").ok());
    ASSERT_TRUE(writer->remove_block(*writer->find_block("c")).ok());
    ASSERT_TRUE(writer->remove_block(*writer->find_block("d")).ok());
    ASSERT_TRUE(writer->set_tag(*writer->define_block("d"), "t", std::int64_t{7}).ok());
    const BlockId gone = *writer->define_block("gone");
    ASSERT_TRUE(writer->set_tag(gone, "t", 1.0).ok());
    ASSERT_TRUE(writer->remove_block(gone).ok());
    ASSERT_TRUE(writer->sync().code() == Code::kUsage);
    ASSERT_TRUE(writer->end_define().ok());
    ASSERT_TRUE(writer->sync().ok());
    EXPECT_EQ(tags("t"), (Found{{"a", "0 of a"}, {"e", "0 of b"}, {"d", "1 7"}}));
    ASSERT_TRUE(writer->redefine().ok());
    EXPECT_EQ(writer->set_tag(*writer->find_block("d"), "t", 1.0).code(), Code::kUnsupported);
    ASSERT_TRUE(writer->set_tag(*writer->define_block("f"), "t", -1.5).ok());
    ASSERT_TRUE(writer->close().ok());
  }
  EXPECT_EQ(tags("t"), (Found{{"a", "0 of a"}, {"e", "0 of b"}, {"d", "1 7"}, {"f", "3 -1.5"}}));
}

TEST_F(WriterTagsTest, ReplaceThoseThatAPackedBlockHas) {
  const std::string from = (folder_.path() / "from.nmb").string();
  {
    const auto writer = *FileWriter::create(from, options());
    const BlockId block = *writer->define_block("b");
    ASSERT_TRUE(writer->set_tag(block, "t", std::string("old")).ok());
    ASSERT_TRUE(writer->set_tag(block, "u", std::string("old")).ok());
    ASSERT_TRUE(writer->close().ok());
  }
  const auto reader = *FileReader::open(from);
  const BlockEntry entry = **reader->find("b");
  std::vector<Status> damaged;
  PackedBlock packed;
  static_cast<BlockCounts&>(packed) = entry.counts();
  packed.name = "b";
  packed.kind = static_cast<Kind>(entry.kind);
  packed.kept = *reader->kept_rows(false, &damaged);
  packed.kept_order = entry.order;
  const std::vector<std::byte> body = *reader->body(entry);
  packed.body = std::make_shared<MemorySource>(body);
  const auto writer = create();
  const BlockId block = *writer->pack_block(std::move(packed));
  ASSERT_TRUE(writer->set_tag(block, "t", std::int64_t{5}).ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(tags("t"), (Found{{"b", "1 5"}}));
  EXPECT_EQ(tags("u"), (Found{{"b", "0 old"}}));
}

}  // namespace
}  // namespace nmb::test
