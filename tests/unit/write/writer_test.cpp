// The promises of writer/file_writer.h, call by call.
#include <gtest/gtest.h>

#include <numeric>

#include "block/block_header.h"
#include "files/files.h"
#include "model/sections.h"
#include "reader/file_reader.h"
#include "superblock/superblock.h"
#include "support/corpus.h"
#include "support/faulty_output.h"
#include "support/model.h"
#include "support/programs.h"
#include "support/sanitized.h"
#include "support/vectors.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/sha256.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

class WriterTest : public testing::Test {
 protected:
  WriterTest() {
    options_.piece_size = 65536;
    options_.sync = false;
  }
  std::string path(const std::string& name = "f.nmb") const {
    return (folder_.path() / name).string();
  }
  std::unique_ptr<FileWriter> create() {
    options_.overwrite = true;
    auto writer = FileWriter::create(path(), options_);
    EXPECT_TRUE(writer.ok()) << writer.status().text();
    return std::move(*writer);
  }
  std::unique_ptr<FileWriter> open() {
    auto writer = FileWriter::open(path(), options_);
    EXPECT_TRUE(writer.ok()) << writer.status().text();
    return std::move(*writer);
  }
  std::unique_ptr<FileReader> read() {
    EXPECT_EQ(findings_of(std::filesystem::path(path())), "");
    auto reader = FileReader::open(path());
    EXPECT_TRUE(reader.ok()) << reader.status().text();
    return std::move(*reader);
  }
  template <class T>
  std::vector<T> values(const std::string& block, VarId variable = 0) {
    auto values = (*read()->block(block))->read_all<T>(variable);
    EXPECT_TRUE(values.ok()) << values.status().text();
    return *values;
  }
  // A block of bytes of one variable "v" over "x".
  static BlockId bytes_block(FileWriter& writer, const std::string& name, std::uint64_t length) {
    const BlockId block = *writer.define_block(name);
    const DimId x = *writer.def_dim(block, "x", length);
    EXPECT_TRUE(writer.def_var(block, "v", Type::kUByte, {{x}}).ok());
    return block;
  }
  static std::vector<std::uint8_t> pattern(std::size_t length, unsigned seed = 0) {
    std::vector<std::uint8_t> out(length);
    for (std::size_t i = 0; i < length; ++i)
      out[i] = static_cast<std::uint8_t>(i * 7 + i / 251 + seed);
    return out;
  }
  static Status put(FileWriter& writer, BlockId block, const std::vector<std::uint8_t>& values) {
    return writer.put(block, 0, std::span<const std::uint8_t>(values));
  }
  TemporaryFolder folder_;
  FileWriterOptions options_;
};

TEST_F(WriterTest, OptionsOutOfRangeAreRefused) {
  for (const std::uint32_t size : {0u, 32768u, 65537u, 1u << 31}) {
    FileWriterOptions options;
    options.piece_size = size;
    EXPECT_EQ(FileWriter::create(path(), options).status().code(), Code::kUsage) << size;
  }
  FileWriterOptions options;
  options.inline_limit = 65537;
  EXPECT_EQ(FileWriter::create(path(), options).status().code(), Code::kUsage);
  for (const int level : {0, 20}) {
    FileWriterOptions codec;
    codec.compression_level = level;
    EXPECT_EQ(FileWriter::create(path(), codec).status().code(), Code::kUsage) << level;
  }
}

TEST_F(WriterTest, AnExistingTargetStaysUnlessReplaced) {
  write_file(path(), "old");
  EXPECT_EQ(FileWriter::create(path()).status().code(), Code::kExists);
  ASSERT_TRUE(create()->close().ok());
  EXPECT_EQ(read()->generation(), 1u);
  EXPECT_EQ(read()->totals().blocks, 0u);
}

TEST_F(WriterTest, TwoWritersAreOneTooMany) {
  auto writer = create();
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->sync().ok());
  EXPECT_EQ(FileWriter::open(path(), options_).status().code(), Code::kBusy);
  ASSERT_TRUE(writer->close().ok());
  EXPECT_TRUE(FileWriter::open(path(), options_).ok());
}

TEST_F(WriterTest, NothingFollowsClose) {
  auto writer = create();
  const BlockId block = bytes_block(*writer, "a", 4);
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(writer->generation(), 1u);
  EXPECT_EQ(writer->close().code(), Code::kUsage);
  EXPECT_EQ(writer->sync().code(), Code::kUsage);
  EXPECT_EQ(writer->redefine().code(), Code::kUsage);
  EXPECT_EQ(writer->find_block("a").status().code(), Code::kUsage);
  EXPECT_EQ(put(*writer, block, pattern(4)).code(), Code::kUsage);
  EXPECT_EQ(read()->generation(), 1u);
}

TEST_F(WriterTest, NamesOfBlocks) {
  auto writer = create();
  const std::string longest(65535, 'n');
  for (const std::string& name : {std::string(""), std::string("a"), std::string("a/b"), longest})
    EXPECT_TRUE(writer->define_block(name).ok()) << name.size();
  for (const std::string& name :
       {std::string("/a"), std::string("a/"), std::string("a//b"), std::string("."),
        std::string("a/.."), std::string("a\0b", 3), std::string("\xFF"), longest + "n"})
    EXPECT_EQ(writer->define_block(name).status().code(), Code::kUsage) << name.substr(0, 9);
  EXPECT_EQ(writer->define_block("a").status().code(), Code::kExists);
  EXPECT_EQ(writer->find_block("b").status().code(), Code::kNotFound);
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(read()->totals().blocks, 4u);
  writer = open();
  EXPECT_EQ(writer->define_block("a/b").status().code(), Code::kExists);
}

TEST_F(WriterTest, EndDefineFindsTheLastDuplicateAmongVeryMany) {
  auto writer = create();
  const BlockId block = *writer->define_block("many");
  for (int i = 0; i < 60000; ++i)
    ASSERT_TRUE(writer->def_dim(block, "d" + std::to_string(i), 1).ok());
  Status status = writer->def_dim(block, "d17", 1).status();
  if (status.ok()) status = writer->end_define();
  EXPECT_EQ(status.code(), Code::kExists);
  EXPECT_NE(status.message().find("\"d17\""), std::string::npos) << status.message();
  EXPECT_EQ(writer->close().code(), Code::kExists);
  ASSERT_TRUE(writer->remove_block(block).ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(read()->totals().blocks, 0u);
}

TEST_F(WriterTest, FullNamesDefineBlocks) {
  auto writer = create();
  auto x = writer->def_dim("a/b/x", 3);
  ASSERT_TRUE(x.ok());
  const std::string_view dimensions[] = {"x"};
  auto v = writer->def_var("a/b/v", Type::kInt, dimensions);
  ASSERT_TRUE(v.ok());
  EXPECT_EQ(v->block, x->block);
  auto root = writer->def_var("top", Type::kInt, {});
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(writer->def_var("a/b/w", Type::kInt, {{"y"}}).status().code(), Code::kNotFound);
  EXPECT_TRUE(writer->put_att_text("a/b/v", "units", "m").ok());
  EXPECT_EQ(writer->put_att_text("a/b/w", "units", "m").code(), Code::kNotFound);
  ASSERT_TRUE(writer->close().ok());
  auto reader = read();
  EXPECT_TRUE(reader->object("top").ok());
  auto object = reader->object("a/b/v");
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(object->block->metadata.find_attribute(0, "units")->count, 1u);
}

TEST_F(WriterTest, ModesAreChecked) {
  auto writer = create();
  const BlockId block = bytes_block(*writer, "a", 4);
  EXPECT_EQ(writer->sync().code(), Code::kUsage);
  EXPECT_EQ(writer->redefine().code(), Code::kUsage);
  EXPECT_EQ(put(*writer, block, pattern(4)).code(), Code::kUsage);
  EXPECT_EQ(writer->global_id(block).status().code(), Code::kUsage);
  ASSERT_TRUE(writer->end_define().ok());
  EXPECT_EQ(writer->end_define().code(), Code::kUsage);
  EXPECT_EQ(writer->define_block("b").status().code(), Code::kUsage);
  EXPECT_EQ(writer->remove_block(block).code(), Code::kUsage);
  EXPECT_EQ(writer->set_field(block, &EntryFields::samples, 1).code(), Code::kUsage);
  EXPECT_EQ(writer->set_field(77, &EntryFields::samples, 1).code(), Code::kUsage);
  EXPECT_EQ(put(*writer, block, pattern(5)).code(), Code::kUsage);
  EXPECT_TRUE(put(*writer, block, pattern(4)).ok());
}

TEST_F(WriterTest, EachGenerationTellsItsProvenanceBehindThoseBefore) {
  auto writer = create();
  EXPECT_EQ(writer->add_provenance("").code(), Code::kUsage);
  ASSERT_TRUE(writer->add_provenance(R"({"run": 1})").ok());
  bytes_block(*writer, "a", 8);
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->sync().ok());
  EXPECT_EQ(read()->provenance().value(), std::vector<std::string>{R"({"run": 1})"});
  // One that changes nothing leaves it for the next.
  ASSERT_TRUE(writer->add_provenance(R"({"run": 2, "more": true})").ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(read()->provenance()->size(), 1u);

  writer = open();
  bytes_block(*writer, "b", 8);
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(read()->provenance()->size(), 1u);
  writer = open();
  ASSERT_TRUE(writer->add_provenance("{}").ok());
  ASSERT_TRUE(writer->add_provenance(R"({"run": 3})").ok());
  bytes_block(*writer, "c", 8);
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(read()->provenance().value(),
            (std::vector<std::string>{R"({"run": 1})", "{}", R"({"run": 3})"}));
}

// The cost of a generation does not depend on the number of generations.
TEST_F(WriterTest, ProvenanceGrowsByWhatIsAdded) {
  auto writer = create();
  std::vector<std::uint64_t> lengths;
  std::vector<std::string> told;
  for (int i = 0; i < 9; ++i) {
    told.push_back("{\"run\": \"" + std::string(30000, static_cast<char>('a' + i)) + "\"}");
    ASSERT_TRUE(writer->add_provenance(told.back()).ok());
    bytes_block(*writer, "b" + std::to_string(i), 8);
    ASSERT_TRUE(writer->end_define().ok());
    ASSERT_TRUE(writer->close().ok());
    lengths.push_back(read()->file_length());
    writer = open();
  }
  EXPECT_EQ(read()->provenance().value(), told);
  for (std::size_t i = 2; i < lengths.size(); ++i)
    EXPECT_LE(lengths[i] - lengths[i - 1], lengths[2] - lengths[1] + 8192) << i;
}

// A history that is too long to be read at once does not end the file's growth.
TEST_F(WriterTest, ALongHistoryHindersNoWriter) {
  auto writer = create();
  const std::string told = "{\"run\": \"" + std::string(kMostProvenance - 12, 'a') + "\"}";
  for (int i = 0; i < 9; ++i) {
    ASSERT_TRUE(writer->add_provenance(told).ok());
    bytes_block(*writer, "b" + std::to_string(i), 8);
    ASSERT_TRUE(writer->end_define().ok());
    ASSERT_TRUE(writer->close().ok());
    writer = open();
  }
  EXPECT_EQ(read()->provenance().status().code(), Code::kLimit);
}

// Provenance that is too large to be read or extended is refused before the commit.
TEST_F(WriterTest, TooLongProvenanceIsRefusedAtOnce) {
  auto writer = create();
  EXPECT_EQ(writer->add_provenance(std::string(65 << 20, ' ')).code(), Code::kUsage);
  EXPECT_EQ(writer->add_provenance(std::string(kMostProvenance + 1, ' ')).code(), Code::kUsage);
  const std::string told(kMostProvenance, ' ');
  std::size_t taken = 0;
  for (int i = 0; i < 9; ++i) {
    const Status status = writer->add_provenance(told);
    if (status.ok())
      ++taken;
    else
      EXPECT_EQ(status.code(), Code::kLimit) << status.text();
  }
  EXPECT_EQ(taken, 7u);
  // Up to the last byte: a place of earlier sections, eight frames.
  const std::size_t rest = (std::size_t{64} << 20) - 40 - 8 * 16 - 7 * kMostProvenance;
  EXPECT_EQ(writer->add_provenance(std::string(rest + 1, ' ')).code(), Code::kLimit);
  EXPECT_TRUE(writer->add_provenance(std::string(rest, ' ')).ok());
  EXPECT_EQ(writer->add_provenance("{}").code(), Code::kLimit);
  bytes_block(*writer, "a", 8);
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(read()->provenance()->size(), 8u);
  // Another generation of as much, behind that; and one more.
  writer = open();
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(writer->add_provenance(told).ok());
  EXPECT_TRUE(writer->add_provenance(std::string(rest, ' ')).ok());
  bytes_block(*writer, "b", 8);
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->close().ok());
  writer = open();
  bytes_block(*writer, "c", 8);
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(read()->totals().blocks, 3u);
}

// Sections that continue others which cannot be those.
TEST_F(WriterTest, EarlierSectionsLieAhead) {
  auto writer = create();
  for (const char* block : {"a", "b"}) {
    ASSERT_TRUE(writer->add_provenance("{}").ok());
    bytes_block(*writer, block, 8);
    ASSERT_TRUE(writer->end_define().ok());
    ASSERT_TRUE(writer->close().ok());
    writer = open();
  }
  writer.reset();
  EXPECT_EQ(read()->provenance()->size(), 2u);
  const std::vector<std::byte> sound = test::read_file(path());
  const std::uint64_t slot = Superblock::slot_position(2);
  Superblock superblock;
  FindingList none;
  Superblock::decode(std::span(sound).subspan(slot, kSlotUnit), slot, &superblock, none);
  const Place& place = superblock.global_sections;
  struct Change {
    std::uint64_t offset, value;
  };
  for (const Change& change : {Change{16, place.position}, Change{16, 0}, Change{24, ~0ull},
                               Change{24, 0}, Change{4, 2}, Change{8, 16}}) {
    std::vector<std::byte> bytes = sound;
    Superblock changed = superblock;
    const std::span<std::byte> section = std::span(bytes).subspan(place.position, place.length);
    if (change.offset == 4)
      store_le<std::uint16_t>(section.data() + 4, std::uint16_t{2});
    else
      store_le<std::uint64_t>(section.data() + change.offset, change.value);
    changed.global_sections.sum = sum_of(section);
    const auto encoded = changed.encode();
    std::ranges::copy(encoded, bytes.begin() + static_cast<std::ptrdiff_t>(slot));
    std::ranges::copy(encoded, bytes.end() - kSlotUnit);
    write_file(path(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    EXPECT_NE(findings_of(std::filesystem::path(path())).find("R-SC-2"), std::string::npos);
    const auto reader = FileReader::open(path());
    ASSERT_TRUE(reader.ok());
    EXPECT_EQ((*reader)->provenance().status().code(), Code::kDamaged) << change.offset;
  }
}

// Global sections that forbid writing.
TEST_F(WriterTest, AnUnknownSectionThatWritersMustKnowIsRefused) {
  auto writer = create();
  ASSERT_TRUE(writer->add_provenance("{}").ok());
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->close().ok());
  for (const bool is_critical : {false, true}) {
    std::vector<std::byte> bytes = test::read_file(path());
    Superblock superblock;
    FindingList none;
    const std::uint64_t slot = Superblock::slot_position(1);
    Superblock::decode(std::span(bytes).subspan(slot, kSlotUnit), slot, &superblock, none);
    Place& place = superblock.global_sections;
    const std::span<std::byte> section = std::span(bytes).subspan(place.position, place.length);
    store_le<std::uint16_t>(section.data(), std::uint16_t{99});
    store_le<std::uint16_t>(section.data() + 2, is_critical ? kCriticalForWriting : 0);
    place.sum = sum_of(section);
    const auto encoded = superblock.encode();
    std::ranges::copy(encoded, bytes.begin() + static_cast<std::ptrdiff_t>(slot));
    std::ranges::copy(encoded, bytes.end() - kSlotUnit);
    const auto mark = Mark{1, superblock.file_length, sum_of(encoded), superblock.file_id}.encode();
    std::ranges::copy(mark, bytes.begin() + kMarkPosition);
    write_file(path(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    EXPECT_TRUE(read()->provenance()->empty());
    const auto opened = FileWriter::open(path(), options_);
    EXPECT_EQ(opened.ok() ? Code::kOk : opened.status().code(),
              is_critical ? Code::kUnsupported : Code::kOk);
  }
}

TEST_F(WriterTest, ASyncWithoutChangesMakesNoGeneration) {
  auto writer = create();
  const BlockId block = bytes_block(*writer, "a", 4);
  ASSERT_TRUE(writer->end_define().ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(writer->sync().ok());
  EXPECT_EQ(writer->generation(), 1u);
  ASSERT_TRUE(put(*writer, block, pattern(4)).ok());
  ASSERT_TRUE(writer->sync().ok());
  EXPECT_EQ(writer->generation(), 2u);
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(values<std::uint8_t>("a"), pattern(4));
  ASSERT_TRUE(open()->close().ok());
  EXPECT_EQ(read()->generation(), 2u);
}

TEST_F(WriterTest, ValuesOutOfRangeAreToldAndPut) {
  auto writer = create();
  const BlockId block = bytes_block(*writer, "a", 3);
  EXPECT_EQ(
      writer->put_att(block, kGlobal, "n", Type::kByte, std::span<const int>(std::vector{300}))
          .code(),
      Code::kRange);
  ASSERT_TRUE(writer->end_define().ok());
  const std::vector<int> wide{1, 300, 3};
  EXPECT_EQ(writer->put(block, 0, std::span<const int>(wide)).code(), Code::kRange);
  EXPECT_EQ(writer->put(block, 0, std::span<const char>("abc", 3)).code(), Code::kUsage);
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(values<std::uint8_t>("a"), (std::vector<std::uint8_t>{1, 44, 3}));
}

TEST_F(WriterTest, ExtentsAroundTheLimitsOfInlineAndPieces) {
  for (const std::uint32_t limit : {0u, 64u, 65536u}) {
    options_.inline_limit = limit;
    auto writer = create();
    const std::vector<std::uint64_t> lengths{1, 60, 64, 65, 65532, 65536, 65537, 131072, 131080};
    std::vector<BlockId> ids;
    for (std::uint64_t length : lengths)
      ids.push_back(bytes_block(*writer, "n" + std::to_string(length), length));
    ASSERT_TRUE(writer->end_define().ok());
    for (std::size_t i = 0; i < ids.size(); ++i)
      ASSERT_TRUE(put(*writer, ids[i], pattern(lengths[i])).ok());
    ASSERT_TRUE(writer->close().ok());
    auto reader = read();
    for (std::uint64_t length : lengths) {
      auto block = *reader->block("n" + std::to_string(length));
      EXPECT_EQ(*block->read_all<std::uint8_t>(0), pattern(length))
          << length << ", inline " << limit;
      // Extents are padded to 4 bytes.
      EXPECT_EQ(block->entry.has_map(), (length + 3) / 4 * 4 > 65536) << length;
      const std::uint64_t end =
          block->entry.position + block_length(block->name.size(), block->entry.stored_length);
      if (block->entry.has_map()) {
        EXPECT_EQ(block->entry.map.position, end) << length;
      }
    }
  }
}

TEST_F(WriterTest, HolesAreNotStoredAndReadAsFillValues) {
  auto writer = create();
  const std::uint64_t length = 300 * 65536;  // a map of several pages
  const BlockId block = bytes_block(*writer, "a", length);
  const std::uint8_t fill = 9;
  ASSERT_TRUE(writer->put_att(block, 0, "_FillValue", Type::kUByte, std::span(&fill, 1)).ok());
  const BlockId hole = bytes_block(*writer, "hole", 1000);
  ASSERT_TRUE(writer->end_define().ok());
  std::vector<std::uint8_t> expected(length, fill);
  for (std::uint64_t i = 0; i < 300; i += 2) {
    const std::uint64_t at = i * 65536 + i;
    const std::uint8_t one = static_cast<std::uint8_t>(i);
    ASSERT_TRUE(writer->put(block, 0, {{at}, {1}, {}}, std::span(&one, 1)).ok());
    expected[at] = one;
  }
  ASSERT_TRUE(writer->sync().ok());
  EXPECT_TRUE((*read()->block("hole"))->entry.hole);
  EXPECT_EQ(values<std::uint8_t>("hole"), std::vector<std::uint8_t>(1000, 255));
  EXPECT_TRUE(values<std::uint8_t>("a") == expected);
  // Changes in place of stored pieces and of holes; a fill value that holes have cannot change.
  for (std::uint64_t at = 65535; at < length; at += 40 * 65536) {
    const std::vector<std::uint8_t> two{1, 2};
    ASSERT_TRUE(writer->put(block, 0, {{at}, {2}, {}}, std::span(two)).ok());
    expected[at] = 1;
    expected[at + 1] = 2;
  }
  ASSERT_TRUE(writer->sync().ok());
  EXPECT_TRUE(values<std::uint8_t>("a") == expected);
  ASSERT_TRUE(writer->redefine().ok());
  const std::uint8_t other = 8;
  EXPECT_EQ(writer->put_att(block, 0, "_FillValue", Type::kUByte, std::span(&other, 1)).code(),
            Code::kUsage);
  EXPECT_TRUE(writer->put_att(block, 0, "_FillValue", Type::kUByte, std::span(&fill, 1)).ok());
  EXPECT_EQ(writer->put_att(hole, 0, "_FillValue", Type::kUByte, std::span(&fill, 1)).code(),
            Code::kUsage);
  ASSERT_TRUE(writer->close().ok());
  EXPECT_TRUE(values<std::uint8_t>("a") == expected);
}

TEST_F(WriterTest, ValuesThatWereCutBeforeTheCommitLeaveNoBytes) {
  auto writer = create();
  const BlockId gone = bytes_block(*writer, "gone", 200000),
                kept = bytes_block(*writer, "kept", 5000);
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(put(*writer, gone, pattern(200000)).ok());
  ASSERT_TRUE(put(*writer, kept, pattern(5000)).ok());
  ASSERT_TRUE(writer->redefine().ok());
  ASSERT_TRUE(writer->remove_block(gone).ok());
  ASSERT_TRUE(writer->def_dim(kept, "time", kUnlimited).ok());
  ASSERT_TRUE(writer->def_var(kept, "t", Type::kByte, {{1}}).ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(read()->totals().blocks, 1u);
  EXPECT_EQ(values<std::uint8_t>("kept"), pattern(5000));
}

TEST_F(WriterTest, ARenameAfterARedefinitionKeepsTheDefinition) {
  auto writer = create();
  const BlockId block = bytes_block(*writer, "a", 4);
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(put(*writer, block, pattern(4)).ok());
  ASSERT_TRUE(writer->sync().ok());
  ASSERT_TRUE(writer->redefine().ok());
  ASSERT_TRUE(writer->put_att_text(block, kGlobal, "title", "new").ok());
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->redefine().ok());
  ASSERT_TRUE(writer->rename_block(block, "b").ok());
  ASSERT_TRUE(writer->close().ok());
  auto found = *read()->block("b");
  EXPECT_TRUE(found->metadata.find_attribute(kGlobal, "title"));
  EXPECT_EQ(values<std::uint8_t>("b"), pattern(4));
  EXPECT_FALSE((*read()->find("a")).has_value());
}

TEST_F(WriterTest, ABlockRemovedAfterItsRedefinitionDiesOnce) {
  auto writer = create();
  const BlockId block = bytes_block(*writer, "a", 70000);
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(put(*writer, block, pattern(70000)).ok());
  ASSERT_TRUE(writer->sync().ok());
  ASSERT_TRUE(put(*writer, block, pattern(70000, 1)).ok());
  ASSERT_TRUE(writer->redefine().ok());
  ASSERT_TRUE(writer->put_att_text(block, kGlobal, "title", "t").ok());
  ASSERT_TRUE(writer->remove_block(block).ok());
  ASSERT_TRUE(bytes_block(*writer, "a", 3) != block);
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(values<std::uint8_t>("a"), std::vector<std::uint8_t>(3, 255));
}

TEST_F(WriterTest, NewVariablesDoNotShowBytesThatAPackedFileHadThere) {
  ModelBlock model;
  model.dimensions = {{"x", 3}};
  model.variables.resize(1);
  model.variables[0].name = "v";
  model.variables[0].dimensions = {0};
  model.resize_values();
  auto writer = create();
  ASSERT_TRUE(writer->pack_block(packed_block("a", model, Kind::kCdf5, 20)).ok());
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->sync().ok());
  ASSERT_TRUE(writer->redefine().ok());
  const BlockId block = *writer->find_block("a");
  ASSERT_TRUE(writer->def_var(block, "w", Type::kInt, {{0}}).ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(values<int>("a", 1), std::vector<int>(3, -2147483647));
}

TEST_F(WriterTest, DigestsOfAFileStayUntilItsBlockChanges) {
  ModelBlock model;
  model.dimensions = {{"t", kUnlimited}, {"x", 30000}};
  model.variables.resize(2);
  model.variables[0].name = "v";
  model.variables[0].dimensions = {1};
  model.variables[1].name = "r";
  model.variables[1].type = Type::kShort;
  model.variables[1].dimensions = {0};
  model.records = 2;
  model.resize_values();
  const std::vector<std::string> names = {"changed", "grown", "put", "redefined", "stays"};
  std::map<std::string, FileDigests> expected;
  auto writer = create();
  for (const std::string& name : names) {
    PackedBlock packed = packed_block(name, model, Kind::kCdf2, name.size());
    std::vector<std::byte> bytes(packed.body->size() + packed.extent_length);
    const auto body = std::span(bytes).first(packed.body->size());
    ASSERT_TRUE(packed.body->read_at(0, body).ok());
    ASSERT_TRUE(packed.extent->read_at(0, std::span(bytes).subspan(body.size())).ok());
    Sha256Stream sha256;
    sha256.add(bytes);
    expected[name] = {digest_of(bytes), sha256.digest()};
    packed.new_digests = RecordedDigests::kSha256;
    ASSERT_TRUE(writer->pack_block(std::move(packed)).ok());
  }
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->close().ok());
  const auto digests_of = [&](const std::string& name) {
    return (**read()->find(name)).file_digests;
  };
  for (const std::string& name : names) EXPECT_EQ(digests_of(name), expected[name]) << name;

  writer = open();
  const std::vector<BlockId> ids = {*writer->find_block("put"), *writer->find_block("grown"),
                                    *writer->find_block("redefined")};
  ASSERT_TRUE(writer->end_define().ok());
  const std::vector<int> values(30000, 5);
  ASSERT_TRUE(writer->put(ids[0], 0, std::span<const int>(values)).ok());
  const short more = 3;
  ASSERT_TRUE(writer->put(ids[1], 1, {{2}, {1}, {}}, std::span<const short>(&more, 1)).ok());
  ASSERT_TRUE(writer->sync().ok());
  ASSERT_TRUE(writer->redefine().ok());
  ASSERT_TRUE(writer->put_att_text(ids[2], kGlobal, "title", "new").ok());
  ASSERT_TRUE(writer->remove_block(*writer->find_block("changed")).ok());
  bytes_block(*writer, "changed", 3);
  ASSERT_TRUE(writer->close().ok());
  for (const char* name : {"changed", "put", "redefined"})
    EXPECT_EQ(digests_of(name), FileDigests()) << name;
  EXPECT_EQ(digests_of("stays"), expected["stays"]);

  std::vector<std::byte> file;
  const auto keep = [&](std::span<const std::byte> part) -> Status {
    file.insert(file.end(), part.begin(), part.end());
    return {};
  };
  const auto reader = read();
  ASSERT_TRUE(reader->give_back(**reader->find("stays"), keep).ok());
  EXPECT_EQ(digest_of(file), expected["stays"].xxh3);
  EXPECT_EQ(reader->give_back(**reader->find("put"), keep).code(), Code::kUsage);
  EXPECT_EQ(reader->give_back(**reader->find("grown"), keep).code(), Code::kUsage);
}

TEST_F(WriterTest, AnUnknownKindIsNotPacked) {
  PackedBlock packed;
  packed.name = "a";
  packed.kind = static_cast<Kind>(7);
  EXPECT_EQ(create()->pack_block(std::move(packed)).status().code(), Code::kUnsupported);
}

// A source that says some of it is not stored.
class SparseSource final : public ByteSource {
 public:
  explicit SparseSource(std::uint64_t size) : size_(size) {}
  std::uint64_t size() const override { return size_; }
  Status read_at(std::uint64_t, std::span<std::byte> out) const override {
    std::ranges::fill(out, std::byte{0});
    return {};
  }
  const std::string& name() const override { return name_; }
  bool is_unallocated(std::uint64_t, std::uint64_t length) const override {
    EXPECT_GT(length, 0u) << "asked of no bytes";
    return true;
  }
  bool may_be_sparse() const override { return true; }

 private:
  std::uint64_t size_;
  std::string name_ = "sparse";
};

TEST_F(WriterTest, MovingASparseSourceCutsNoValuesOff) {
  auto writer = create();
  const BlockId sparse = bytes_block(*writer, "a", 100000),
                dense = bytes_block(*writer, "b", 100000);
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(put(*writer, dense, pattern(100000)).ok());
  ASSERT_TRUE(
      writer->take_values(sparse, std::make_shared<SparseSource>(100000), {{0, 0, 0, 0, 100000, 1}})
          .ok());
  EXPECT_EQ(put(*writer, sparse, pattern(100000)).code(), Code::kUsage);
  EXPECT_EQ(writer->pending_bytes(), 100000u);
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(values<std::uint8_t>("b"), pattern(100000));
  EXPECT_EQ(values<std::uint8_t>("a"), std::vector<std::uint8_t>(100000));
}

TEST_F(WriterTest, MovingASparseSourceSetsNoRoomApart) {
  constexpr std::uint64_t kLength = 8 << 20;
  auto writer = create();
  const BlockId block = bytes_block(*writer, "a", kLength);
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(
      writer
          ->take_values(block, std::make_shared<SparseSource>(kLength), {{0, 0, 0, 0, kLength, 1}})
          .ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_LT(stored_bytes(path()), kLength / 8);
  EXPECT_EQ(values<std::uint8_t>("a"), std::vector<std::uint8_t>(kLength));
}

TEST_F(WriterTest, TakenRunsComeFromTheirPlacesAndTheRestIsZero) {
  for (const unsigned threads : {1u, 2u, 5u}) {
    options_.threads = threads;
    auto writer = create();
    const std::uint64_t length = 3 << 20;
    const BlockId block = bytes_block(*writer, "a", length);
    ASSERT_TRUE(writer->end_define().ok());
    const auto source = pattern(length);
    auto memory = std::make_shared<MemorySource>(std::as_bytes(std::span(source)));
    EXPECT_EQ(writer->take_values(block, memory, {{0, 0, 8, 0, 8, 1}, {0, 0, 0, 0, 8, 1}}).code(),
              Code::kUsage);
    EXPECT_EQ(writer->take_values(block, memory, {{0, 0, length, 0, 8, 1}}).code(), Code::kUsage);
    // Every second run of 1000 bytes, in opposite places.
    ASSERT_TRUE(writer
                    ->take_values(block, memory,
                                  {{1000, 2000, 0, 2000, 1000, 1000}, {5, 0, 2500000, 0, 77, 1}})
                    .ok());
    ASSERT_TRUE(writer->close().ok());
    std::vector<std::uint8_t> expected(length);
    for (std::uint64_t i = 0; i < 1000; ++i)
      std::copy_n(&source[1000 + i * 2000], 1000, &expected[i * 2000]);
    std::copy_n(&source[5], 77, &expected[2500000]);
    EXPECT_TRUE(values<std::uint8_t>("a") == expected);
  }
}

TEST_F(WriterTest, TheIndexGrowsSplitsAndShrinks) {
  options_.metadata_codec = MetadataCodec::kNone;
  const auto name = [](int i) {
    std::string digits = std::to_string(i);
    return "b" + std::string(6 - digits.size(), '0') + digits;
  };
  auto writer = create();
  for (int i = 0; i < 8300; ++i) ASSERT_TRUE(writer->define_block(name(2 * i)).ok());
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->sync().ok());
  EXPECT_EQ(read()->totals().blocks, 8300u);
  // Between others, behind all, ahead of all.
  ASSERT_TRUE(writer->redefine().ok());
  for (int i = 100; i < 300; ++i) ASSERT_TRUE(writer->define_block(name(2 * i + 1)).ok());
  for (int i = 0; i < 70; ++i) ASSERT_TRUE(writer->define_block(name(500000 + i)).ok());
  ASSERT_TRUE(writer->define_block("a").ok());
  ASSERT_TRUE(writer->end_define().ok());
  EXPECT_EQ(*writer->global_id(*writer->find_block("a")), 0u);
  EXPECT_EQ(*writer->global_id(*writer->find_block(name(201))), 102u);
  ASSERT_TRUE(writer->sync().ok());
  EXPECT_EQ(read()->totals().blocks, 8571u);
  EXPECT_EQ(*read()->global_id(name(201)), 102u);
  // Down to one leaf that changes in the same commit, then to nothing.
  for (const int left : {9000, 100, 65, 64, 1, 0}) {
    std::vector<std::string> names;
    ASSERT_TRUE(read()
                    ->for_each_entry("",
                                     [&](const BlockEntry& entry) -> Result<bool> {
                                       names.push_back(entry.name);
                                       return true;
                                     })
                    .ok());
    ASSERT_TRUE(writer->redefine().ok());
    for (std::size_t i = static_cast<std::size_t>(left); i < names.size(); ++i)
      ASSERT_TRUE(writer->remove_block(*writer->find_block(names[i])).ok());
    if (left > 0) {
      ASSERT_TRUE(writer->set_field(*writer->find_block(names[0]), &EntryFields::samples, 1).ok());
    }
    ASSERT_TRUE(writer->end_define().ok());
    const Status status = writer->sync();
    ASSERT_TRUE(status.ok()) << left << ": " << status.text();
    EXPECT_EQ(read()->totals().blocks,
              std::min<std::size_t>(names.size(), static_cast<std::size_t>(left)));
  }
  ASSERT_TRUE(writer->redefine().ok());
  ASSERT_TRUE(writer->define_block("new").ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(read()->totals().blocks, 1u);
}

TEST_F(WriterTest, RecordsOfOneByteVariableHaveNoPadding) {
  auto writer = create();
  const BlockId block = *writer->define_block("a");
  const DimId time = *writer->def_dim(block, "time", kUnlimited),
              x = *writer->def_dim(block, "x", 3);
  ASSERT_TRUE(writer->def_var(block, "v", Type::kUByte, {{time, x}}).ok());
  ASSERT_TRUE(writer->end_define().ok());
  std::vector<std::uint8_t> all;
  for (unsigned generation = 0; generation < 8; ++generation) {
    const std::uint64_t records = generation == 5 ? 30000 : 1 + generation;
    const auto more = pattern(records * 3, generation);
    ASSERT_TRUE(
        writer->put(block, 0, {{all.size() / 3, 0}, {records, 3}, {}}, std::span(more)).ok());
    all.insert(all.end(), more.begin(), more.end());
    ASSERT_TRUE(writer->sync().ok());
    ASSERT_EQ(*writer->records(block), all.size() / 3);
    ASSERT_TRUE(values<std::uint8_t>("a") == all) << generation;
  }
}

TEST_F(WriterTest, ValuesPutWithStridesAreWrittenTogether) {
  const std::uint64_t kLength = (5 << 18) / test::kShare;
  const auto all = pattern(kLength);
  const auto every = [&](std::uint64_t start, std::uint64_t stride) {
    std::vector<std::uint8_t> out;
    for (std::uint64_t i = start; i < kLength; i += stride) out.push_back(all[i]);
    return out;
  };
  std::vector<OutputCall> calls;
  options_.layer = recording(calls);
  const auto put_every = [&](FileWriter& writer, BlockId block, std::uint64_t start,
                             std::uint64_t stride) {
    const auto values = every(start, stride);
    calls.clear();
    const Status status =
        writer.put(block, 0, {{start}, {values.size()}, {stride}}, std::span(values));
    ASSERT_TRUE(status.ok()) << status.text();
    EXPECT_LT(calls.size(), 10 + 2 * kLength / options_.piece_size);
  };
  auto writer = create();
  const BlockId block = bytes_block(*writer, "a", kLength);
  ASSERT_TRUE(writer->end_define().ok());
  put_every(*writer, block, 2, 3);
  put_every(*writer, block, 0, 3);
  ASSERT_TRUE(writer->sync().ok());
  auto expected = all;
  for (std::uint64_t i = 1; i < kLength; i += 3) expected[i] = 255;
  EXPECT_TRUE(values<std::uint8_t>("a") == expected);
  // A new generation: what is committed stays as it is.
  const std::uint64_t committed = std::filesystem::file_size(path());
  put_every(*writer, block, 1, 3);
  calls.clear();
  ASSERT_TRUE(writer->close().ok());
  for (const OutputCall& call : calls)
    if (call.what == OutputCall::What::kWrite) {
      EXPECT_TRUE(call.offset >= committed || call.offset == 8192 || call.offset == 0)
          << call.offset;
    }
  EXPECT_TRUE(values<std::uint8_t>("a") == all);
}

TEST_F(WriterTest, ValuesPutFarApartLeaveHolesBetween) {
  constexpr std::uint64_t kLength = 40 * 65536;
  auto writer = create();
  const BlockId block = bytes_block(*writer, "a", kLength);
  ASSERT_TRUE(writer->end_define().ok());
  const auto some = pattern(4);
  ASSERT_TRUE(writer->put(block, 0, {{100}, {4}, {10 * 65536}}, std::span(some)).ok());
  ASSERT_TRUE(writer->close().ok());
  auto expected = std::vector<std::uint8_t>(kLength, 255);
  for (std::uint64_t i = 0; i < 4; ++i) expected[100 + i * 10 * 65536] = some[i];
  EXPECT_TRUE(values<std::uint8_t>("a") == expected);
  auto reader = read();
  EXPECT_EQ(reader->holes(**reader->find("a"))->size(), 4u);
}

// Programs that do not respect the lock may replace the file: nobody will find the commit under its
// name.
TEST_F(WriterTest, ACommitToAFileThatWasReplacedFails) {
  const std::string other = path() + ".other";
  for (const bool removed : {false, true}) {
    std::filesystem::remove(path());
    ASSERT_TRUE((*FileWriter::create(path(), options_))->close().ok());
    const auto writer = *FileWriter::open(path(), options_);
    ASSERT_TRUE(writer->define_block("b").ok());
    ASSERT_TRUE(writer->end_define().ok());
    ASSERT_TRUE((*FileWriter::create(other, options_))->close().ok());
    FileWriterOptions replacing = options_;
    replacing.overwrite = true;
    EXPECT_EQ(FileWriter::create(path(), replacing).status().code(), Code::kBusy);
    if (removed)
      std::filesystem::remove(path());
    else
      std::filesystem::rename(other, path());
    const Status closed = writer->close();
    EXPECT_EQ(closed.code(), Code::kBusy) << closed.text();
    EXPECT_NE(closed.message().find("removed or replaced"), std::string::npos) << closed.text();
  }
}

TEST_F(WriterTest, FailedChecksBeforePublishingLeaveNoFile) {
  FileWriterOptions options{options_};
  options.before_publish = [](const ByteSource& file) {
    EXPECT_TRUE(FileReader::open(std::shared_ptr<const ByteSource>(&file, [](auto*) {})).ok());
    return Status(Code::kConflict, "no");
  };
  EXPECT_EQ((*FileWriter::create(path(), options))->close().code(), Code::kConflict);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(WriterTest, ACancelledMoveIsAnInterruption) {
  std::atomic<bool> cancel{true};
  options_.cancel = &cancel;
  auto writer = create();
  const BlockId block = bytes_block(*writer, "a", 100000);
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->take_values(block, std::make_shared<SparseSource>(100000), {}).ok());
  EXPECT_EQ(writer->close().code(), Code::kIo);
  writer.reset();
  EXPECT_FALSE(std::filesystem::exists(path()));
}

}  // namespace
}  // namespace nmb::test
