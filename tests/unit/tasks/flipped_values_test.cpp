// Each function of the library that moves values either fails on a damaged piece or does not need
// it. tests/cli/flipped_values.py checks that each exported function is known there and here.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <numeric>
#include <string>

#include "convert/convert.h"
#include "files/files.h"
#include "merge/reporting/merge.h"
#include "nmb/reader.h"
#include "reader/file_reader.h"
#include "recover/recover.h"
#include "support/model.h"
#include "support/programs.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

constexpr std::size_t kCount = 40000;    // values of a variable: 2 pieces and a part
constexpr std::size_t kDamaged = 20000;  // number of the damaged value, in the second piece

// A file with two blocks of three pieces each: a fixed array in `fixed`, records in `records`. One
// bit of the second piece of each block is wrong.
class FlippedValues : public testing::Test {
 protected:
  FlippedValues() {
    options_.piece_size = 65536;
    options_.sync = false;
    options_.overwrite = true;
    std::vector<std::int32_t> values(kCount);
    std::iota(values.begin(), values.end(), 0x12345678);
    auto writer = *FileWriter::create(path(), options_);
    for (const bool has_records : {false, true}) {
      const BlockId block = *writer->define_block(has_records ? "records" : "fixed");
      const DimId x = *writer->def_dim(block, "x", has_records ? kUnlimited : kCount);
      EXPECT_TRUE(writer->def_var(block, "v", Type::kInt, {{x}}).ok());
    }
    EXPECT_TRUE(writer->end_define().ok());
    for (BlockId block : {0u, 1u}) EXPECT_TRUE(writer->put(block, 0, values).ok());
    EXPECT_TRUE(writer->close().ok());
    flip();
    reader_ = *FileReader::open(path());
  }

  std::string path(const char* name = "f.nmb") const { return (folder_.path() / name).string(); }
  // Flips a bit of value kDamaged in each block.
  void flip() {
    std::ifstream in(path(), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    const std::int32_t value = 0x12345678 + static_cast<std::int32_t>(kDamaged);
    std::string pattern;
    for (int shift : {24, 16, 8, 0}) pattern += static_cast<char>(value >> shift);
    int found = 0;
    for (std::size_t at = 0; (at = bytes.find(pattern, at)) != std::string::npos; ++at, ++found)
      bytes[at + 3] = static_cast<char>(bytes[at + 3] ^ 0x40);
    ASSERT_EQ(found, 2);
    std::ofstream(path(), std::ios::binary) << bytes;
  }
  std::shared_ptr<const LoadedBlock> block(const char* name) { return *reader_->block(name); }
  // Opens the file for a new generation, outside define mode.
  std::unique_ptr<FileWriter> change() {
    auto writer = *FileWriter::open(path(), options_);
    EXPECT_TRUE(writer->end_define().ok());
    return writer;
  }

  TemporaryFolder folder_;
  FileWriterOptions options_;
  std::unique_ptr<FileReader> reader_;
};

constexpr const char* kBlockNames[] = {"fixed", "records"};

TEST_F(FlippedValues, Read) {
  for (const char* name : kBlockNames) {
    std::int32_t one = 0;
    // A read of the piece fails, also if it does not need the damaged byte.
    for (const std::uint64_t at : {kDamaged, kDamaged + 1, std::size_t{16384}})
      EXPECT_EQ(block(name)->read(0, {{at}, {1}, {}}, std::span(&one, 1)).code(), Code::kDamaged)
          << at;
    ASSERT_TRUE(block(name)->read(0, {{16383}, {1}, {}}, std::span(&one, 1)).ok());
    EXPECT_EQ(one, 0x12345678 + 16383);
    EXPECT_EQ(block(name)->read_all<std::int32_t>(0).status().code(), Code::kDamaged);
    std::byte byte{};
    EXPECT_EQ(block(name)->extent->read_at(4 * kDamaged, {&byte, 1}).code(), Code::kDamaged);
    const ValueArray array = *value_array(block(name)->metadata, block(name)->layout,
                                          block(name)->records, 0, block(name)->extent);
    EXPECT_EQ(read_array(array, "v", {{kDamaged}, {1}, {}}, std::span(&one, 1)).code(),
              Code::kDamaged);
    EXPECT_EQ(read_hyperslab(block(name)->metadata, *block(name)->shape(0), 0, *block(name)->extent,
                             {{kDamaged}, {1}, {}}, std::span(&one, 1))
                  .code(),
              Code::kDamaged);
  }
}

TEST_F(FlippedValues, UnverifiedByName) {
  const auto unverified = *FileReader::open(path(), {.unverified = Unverified::kPartsOfPieces});
  std::int32_t one = 0;
  ASSERT_TRUE(
      (*unverified->block("fixed"))->read(0, {{kDamaged}, {1}, {}}, std::span(&one, 1)).ok());
  EXPECT_EQ(one, (0x12345678 + static_cast<std::int32_t>(kDamaged)) ^ 0x40);
}

TEST_F(FlippedValues, Requests) {
  std::int32_t first = 0, damaged = 0;
  GetRequests requests;
  const RequestId ids[] = {
      *requests.iget(*reader_->object("fixed/v"), {{0}, {1}, {}}, std::span(&first, 1)),
      *requests.iget(*reader_->object("fixed/v"), {{kDamaged}, {1}, {}}, std::span(&damaged, 1))};
  Status statuses[2];
  EXPECT_EQ(requests.wait(ids, statuses).code(), Code::kDamaged);
  EXPECT_TRUE(statuses[0].ok());
  EXPECT_EQ(first, 0x12345678);
  EXPECT_EQ(statuses[1].code(), Code::kDamaged);
}

TEST_F(FlippedValues, Elements) {
  const Reader reader(path());
  for (const char* name : kBlockNames) {
    const VarView var = reader.block(name).var("v");
    EXPECT_EQ(var.try_elements().status().code(), Code::kDamaged);
    std::int32_t first = 0, damaged = 0;
    const auto out = [](std::int32_t& value) {
      return std::as_writable_bytes(std::span(&value, 1));
    };
    EXPECT_EQ(var.try_read_elements({{kDamaged}, {1}, {}}, out(damaged)).code(), Code::kDamaged);
    const ElementRequest requests[] = {{var, {{0}, {1}, {}}, out(first)},
                                       {var, {{kDamaged}, {1}, {}}, out(damaged)}};
    for (const unsigned threads : {1U, 2U}) {
      Status statuses[2];
      EXPECT_EQ(reader.try_read_elements(requests, statuses, threads).code(), Code::kDamaged);
      EXPECT_TRUE(statuses[0].ok());
      EXPECT_EQ(first, 0x12345678);
      EXPECT_EQ(statuses[1].code(), Code::kDamaged);
    }
  }
}

TEST_F(FlippedValues, ReadTogether) {
  Communicator alone;
  const auto together = *FileReader::open(path(), {}, alone);
  const std::string_view names[] = {"fixed"};
  const auto blocks = *together->open_blocks(names);
  std::int32_t one = 0;
  EXPECT_EQ(blocks[0]->read(0, {{kDamaged}, {1}, {}}, std::span(&one, 1)).code(), Code::kDamaged);
  EXPECT_EQ(
      together->get_all_same({blocks[0], 0}, {{kDamaged}, {1}, {}}, std::span(&one, 1)).code(),
      Code::kDamaged);
}

TEST_F(FlippedValues, Statistics) {
  for (const char* name : kBlockNames)
    EXPECT_EQ(compute_statistics(*block(name), StatisticsLevel::kBasic, 1).status().code(),
              Code::kDamaged);
}

TEST_F(FlippedValues, Convert) {
  for (const char* name : kBlockNames) {
    const BlockEntry entry = **reader_->find(name);
    for (const bool check : {false, true}) {
      ExtractOptions options;
      options.check = check;
      options.sync = false;
      EXPECT_EQ(extract_block(*reader_, entry, path("x.nc"), options).code(), Code::kDamaged);
      EXPECT_EQ(write_classic(*block(name), Kind::kCdf5, path("x.nc"), options).code(),
                Code::kDamaged);
    }
  }
  EXPECT_FALSE(FileSource::open(path("x.nc")).ok());
}

TEST_F(FlippedValues, Pack) {
  PackOptions options;
  options.inputs = {path()};
  options.output = path("packed.nmb");
  options.block_name = "{group}";
  options.writer.sync = false;
  PackReport report;
  EXPECT_EQ(pack(options, &report).code(), Code::kDamaged);
  EXPECT_FALSE(FileSource::open(options.output).ok());
  // Values of a Reader, given to a Writer.
  auto writer = *FileWriter::create(path("taken.nmb"), options_);
  const BlockId taken = *writer->define_block("b", block("fixed")->metadata);
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(
      writer->take_values(taken, block("fixed")->extent, {{0, 0, 0, 0, 4 * kCount, 1}}).ok());
  EXPECT_EQ(writer->close().code(), Code::kDamaged);
}

// The rest of a committed piece gets a new sum if a part of the piece is put.
TEST_F(FlippedValues, PutIntoDamagedPiece) {
  const std::int32_t one = 1;
  const Hyperslab slab{{kDamaged + 100}, {1}, {}};
  for (BlockId block : {0u, 1u}) {
    for (const bool all : {false, true}) {
      auto writer = change();
      const BlockId id = *writer->find_block(kBlockNames[block]);
      const Status put = all ? writer->put_all(id, 0, slab, std::span(&one, 1))
                             : writer->put(id, 0, slab, std::span(&one, 1));
      EXPECT_EQ((put.ok() ? writer->close() : put).code(), Code::kDamaged);
    }
    auto writer = change();
    const BlockId id = *writer->find_block(kBlockNames[block]);
    const RequestId ids[] = {*writer->iput(id, 0, slab, std::span(&one, 1))};
    const Status put = writer->wait_all(ids);
    EXPECT_EQ((put.ok() ? writer->close() : put).code(), Code::kDamaged);
  }
}

TEST_F(FlippedValues, GetThroughTheWriter) {
  const Hyperslab damaged{{kDamaged}, {1}, {}};
  for (const char* name : kBlockNames) {
    auto writer = change();
    const BlockId id = *writer->find_block(name);
    std::int32_t found = 0;
    EXPECT_EQ(writer->get(id, 0, damaged, std::span(&found, 1)).code(), Code::kDamaged);
    const Get gets[] = {{id, 0, {{kDamaged + 1}, {1}, {}}, std::span(&found, 1)}};
    EXPECT_EQ(writer->get_all(gets).code(), Code::kDamaged);
    // A put into the piece does not make its other values readable.
    const std::int32_t one = 1;
    const Status put = writer->put(id, 0, {{kDamaged + 100}, {1}, {}}, std::span(&one, 1));
    const Status flushed = put.ok() ? writer->flush() : put;
    const Status got = flushed.ok() ? writer->get(id, 0, damaged, std::span(&found, 1)) : flushed;
    EXPECT_EQ(got.code(), Code::kDamaged);
  }
}

// A put beside the damaged piece leaves it, and its sum, as they are.
TEST_F(FlippedValues, PutElsewhere) {
  const std::int32_t one = 1;
  auto writer = change();
  const BlockId records = *writer->find_block("records");
  ASSERT_TRUE(writer->put(records, 0, {{kCount}, {1}, {}}, std::span(&one, 1)).ok());
  ASSERT_TRUE(
      writer->put(*writer->find_block("fixed"), 0, {{0}, {1}, {}}, std::span(&one, 1)).ok());
  ASSERT_TRUE(writer->close().ok());
  reader_ = *FileReader::open(path());
  std::int32_t found = 0;
  for (const char* name : kBlockNames)
    EXPECT_EQ(block(name)->read(0, {{kDamaged}, {1}, {}}, std::span(&found, 1)).code(),
              Code::kDamaged);
}

TEST_F(FlippedValues, Redefine) {
  auto writer = *FileWriter::open(path(), options_);
  const BlockId id = *writer->find_block("fixed");
  ASSERT_TRUE(writer->put_att_text(id, kGlobal, "note", std::string(1000, 'x')).ok());
  ASSERT_TRUE(writer->rename_block(*writer->find_block("records"), "other").ok());
  Status status = writer->end_define();
  if (status.ok()) status = writer->close();
  if (!status.ok()) {
    EXPECT_EQ(status.code(), Code::kDamaged);
    return;
  }
  reader_ = *FileReader::open(path());
  std::int32_t found = 0;
  for (const char* name : {"fixed", "other"})
    EXPECT_EQ(block(name)->read(0, {{kDamaged}, {1}, {}}, std::span(&found, 1)).code(),
              Code::kDamaged);
}

TEST_F(FlippedValues, StatisticsOfAChange) {
  options_.statistics = StatisticsLevel::kBasic;
  const std::int32_t one = 1;
  auto writer = change();
  ASSERT_TRUE(
      writer->put(*writer->find_block("fixed"), 0, {{0}, {1}, {}}, std::span(&one, 1)).ok());
  EXPECT_EQ(writer->close().code(), Code::kDamaged);
}

TEST_F(FlippedValues, VerifyAndRecover) {
  EXPECT_NE(findings_of(std::filesystem::path(path())), "");
  RecoveryOptions options;
  options.output = path("recovered.nmb");
  options.writer.sync = false;
  const Recovery recovery = *recover(*FileSource::open(path()), options);
  EXPECT_EQ(recovery.count(FoundBlock::State::kWhole), 0u);
}

}  // namespace
}  // namespace nmb::test
