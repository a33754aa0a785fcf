// Merging NMB files whose values are holes: those of data maps stay holes, those of the file system
// take no room in the new file either.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "files/files.h"
#include "merge/reporting/merge.h"
#include "reader/file_reader.h"
#include "recover/recover.h"
#include "support/model.h"
#include "support/programs.h"

namespace nmb::test {
namespace {

constexpr std::uint64_t kWindowOfHoles = 65536;

class PackHolesTest : public testing::Test {
 protected:
  PackHolesTest() {
    options_.piece_size = kWindowOfHoles;
    options_.sync = false;
    merge_.inputs = {in()};
    merge_.output = out();
    merge_.block_name = "{group}";
    merge_.writer = options_;
    merge_.writer.threads = 2;
  }
  std::string in() const { return (folder_.path() / "in.nmb").string(); }
  std::string out() const { return (folder_.path() / "out.nmb").string(); }
  std::unique_ptr<FileWriter> create() { return std::move(*FileWriter::create(in(), options_)); }
  // A block with a variable "v" of ints over `length`, filled with 7.
  static BlockId ints(FileWriter& writer, const std::string& name, std::uint64_t length) {
    const BlockId block = *writer.define_block(name);
    const DimId x = *writer.def_dim(block, "x", length);
    EXPECT_TRUE(writer.def_var(block, "v", Type::kInt, {{x}}).ok());
    const int fill = 7;
    EXPECT_TRUE(
        writer.put_att(block, 0, "_FillValue", Type::kInt, std::span<const int>(&fill, 1)).ok());
    return block;
  }
  static void put(FileWriter& writer, BlockId block, std::uint64_t start, std::uint64_t count) {
    std::vector<int> values(count);
    for (std::uint64_t i = 0; i < count; ++i) values[i] = static_cast<int>(start + i) * 3 + 1;
    ASSERT_TRUE(writer.put(block, 0, {{start}, {count}, {}}, std::span<const int>(values)).ok());
  }
  void merge() {
    PackReport report;
    const Status status = pack(merge_, &report);
    ASSERT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(findings_of(std::filesystem::path(out())), "");
  }
  static std::vector<int> values(const std::string& file, const std::string& block) {
    auto values = (*(*FileReader::open(file))->block(block))->read_all<int>(0);
    EXPECT_TRUE(values.ok()) << values.status().text();
    return *values;
  }
  static std::vector<ByteRange> holes(const std::string& file, const std::string& block) {
    auto reader = FileReader::open(file);
    auto holes = (*reader)->holes(**(*reader)->find(block));
    EXPECT_TRUE(holes.ok()) << holes.status().text();
    return *holes;
  }
  TemporaryFolder folder_;
  FileWriterOptions options_;
  PackOptions merge_;
};

TEST_F(PackHolesTest, PiecesThatWereNotWrittenStayHoles) {
  constexpr std::uint64_t kValues = 40 * kWindowOfHoles / 4 + 5;
  auto writer = create();
  const BlockId a = ints(*writer, "a", kValues), b = ints(*writer, "b", kValues),
                c = ints(*writer, "c", 100), d = ints(*writer, "d", kValues);
  ASSERT_TRUE(writer->end_define().ok());
  put(*writer, a, 3 * kWindowOfHoles / 4 + 100, 50);
  put(*writer, a, 8 * kWindowOfHoles / 4 - 1, 2);
  put(*writer, a, kValues - 1, 1);
  put(*writer, b, 0, 1);
  put(*writer, c, 10, 10);
  (void)d;
  ASSERT_TRUE(writer->close().ok());
  merge();
  for (const char* block : {"a", "b", "c", "d"})
    EXPECT_TRUE(values(out(), block) == values(in(), block)) << block;
  EXPECT_EQ(values(out(), "a")[0], 7);
  const std::vector<ByteRange> expected = {{0, 3 * kWindowOfHoles},
                                           {4 * kWindowOfHoles, 7 * kWindowOfHoles},
                                           {9 * kWindowOfHoles, 40 * kWindowOfHoles}};
  EXPECT_TRUE(holes(in(), "a") == expected);
  EXPECT_TRUE(holes(out(), "a") == expected);
  EXPECT_TRUE(holes(out(), "b") == (std::vector<ByteRange>{{kWindowOfHoles, kValues * 4}}));
  EXPECT_TRUE(holes(out(), "c").empty());
  EXPECT_TRUE(holes(out(), "d") == (std::vector<ByteRange>{{0, kValues * 4}}));
  EXPECT_LE(stored_bytes(out()), stored_bytes(in()) + 65536);
  EXPECT_LE(std::filesystem::file_size(out()), std::filesystem::file_size(in()));
}

TEST_F(PackHolesTest, RecordsFarApartTakeNoRoomBetweenThem) {
  auto writer = create();
  const BlockId block = *writer->define_block("a");
  const DimId time = *writer->def_dim(block, "time", kUnlimited),
              x = *writer->def_dim(block, "x", 1000);
  ASSERT_TRUE(writer->def_var(block, "v", Type::kInt, {{time, x}}).ok());
  ASSERT_TRUE(writer->end_define().ok());
  const std::vector<int> record(1000, 5);
  for (const std::uint64_t at : {0u, 1000000u})
    ASSERT_TRUE(writer->put(block, 0, {{at, 0}, {1, 1000}, {}}, std::span<const int>(record)).ok());
  ASSERT_TRUE(writer->close().ok());
  merge();
  EXPECT_LE(std::filesystem::file_size(out()),
            std::filesystem::file_size(in()) + 4 * kWindowOfHoles);
  auto merged = *(*FileReader::open(out()))->block("a");
  EXPECT_EQ(merged->records, 1000001u);
  std::vector<int> row(3000);
  ASSERT_TRUE(merged->read(0, {{999998, 0}, {3, 1000}, {}}, row).ok());
  for (std::size_t i = 0; i < row.size(); ++i) ASSERT_EQ(row[i], i < 2000 ? -2147483647 : 5) << i;
}

TEST_F(PackHolesTest, PiecesOfAnotherSizeHoldTheSameValues) {
  constexpr std::uint64_t kValues = 100 * kWindowOfHoles / 4 + 1;
  auto writer = create();
  const BlockId a = ints(*writer, "a", kValues);
  ASSERT_TRUE(writer->end_define().ok());
  put(*writer, a, 17 * kWindowOfHoles / 4 + 3, 9);
  put(*writer, a, 70 * kWindowOfHoles / 4, kWindowOfHoles);
  ASSERT_TRUE(writer->close().ok());
  for (const std::uint32_t size : {1u << 17, 1u << 20, 1u << 21, 1u << 24}) {
    merge_.writer.piece_size = size;
    merge_.writer.overwrite = true;
    merge();
    EXPECT_TRUE(values(out(), "a") == values(in(), "a")) << size;
  }
}

TEST_F(PackHolesTest, ManyHolesMergeIntoTheSameBytesWithAnyNumberOfThreads) {
  auto writer = create();
  std::vector<BlockId> blocks;
  for (unsigned i = 0; i < 20; ++i)
    blocks.push_back(ints(*writer, "b" + std::to_string(i), (5 + i) * kWindowOfHoles / 4 + i));
  ASSERT_TRUE(writer->end_define().ok());
  for (unsigned i = 0; i < 20; ++i)
    for (unsigned k = i % 3; k < 5 + i; k += 1 + i % 4)
      put(*writer, blocks[i], k * kWindowOfHoles / 4 + i, 1);
  ASSERT_TRUE(writer->close().ok());
  std::vector<std::string> bytes;
  for (const unsigned threads : {1u, 3u}) {
    merge_.writer.threads = threads;
    merge_.writer.overwrite = true;
    merge();
    for (unsigned i = 0; i < 20; ++i) {
      const std::string block = "b" + std::to_string(i);
      EXPECT_TRUE(values(out(), block) == values(in(), block)) << block;
      EXPECT_TRUE(holes(out(), block) == holes(in(), block)) << block;
    }
    auto file = *FileSource::open(out());
    bytes.emplace_back(file->size(), '\0');
    ASSERT_TRUE(file->read_at(0, std::as_writable_bytes(std::span(bytes.back()))).ok());
  }
  EXPECT_TRUE(bytes[0] == bytes[1]);
}

// Takes the room of a range away from a file: it reads as zero.
bool punch(const std::string& path, std::uint64_t offset, std::uint64_t length) {
  const int fd = ::open(path.c_str(), O_RDWR);
  const int done = ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                               static_cast<off_t>(offset), static_cast<off_t>(length));
  ::close(fd);
  return done == 0;
}

TEST_F(PackHolesTest, ZerosThatTheFileDoesNotStoreAreNotStoredInTheNewOne) {
  constexpr std::uint64_t kLength = 8 << 20;
  auto writer = create();
  const BlockId block = *writer->define_block("a");
  const DimId x = *writer->def_dim(block, "x", kLength);
  ASSERT_TRUE(writer->def_var(block, "v", Type::kUByte, {{x}}).ok());
  ASSERT_TRUE(writer->end_define().ok());
  std::vector<std::uint8_t> bytes(kLength);
  bytes[5 << 20] = 1;
  ASSERT_TRUE(writer->put(block, 0, std::span<const std::uint8_t>(bytes)).ok());
  ASSERT_TRUE(writer->close().ok());
  const std::uint64_t position = (*(*FileReader::open(in()))->find("a"))->extent_position;
  if (!punch(in(), position, 4 << 20)) GTEST_SKIP() << "the file system has no holes";
  merge();
  EXPECT_TRUE(holes(out(), "a").empty());
  EXPECT_LE(stored_bytes(out()), kLength / 2 + (256 << 10));
  RecoveryOptions recovery;
  recovery.output = (folder_.path() / "recovered.nmb").string();
  recovery.writer.sync = false;
  const auto recovered = recover(*FileSource::open(in()), recovery);
  ASSERT_TRUE(recovered.ok()) << recovered.status().text();
  EXPECT_LE(stored_bytes(recovery.output), kLength / 2 + (256 << 10));
  auto read = (*(*FileReader::open(out()))->block("a"))->read_all<std::uint8_t>(0);
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_TRUE(*read == bytes);
}

TEST_F(PackHolesTest, ValuesThatWereTakenAwayAreNotPassedOnAsZeros) {
  constexpr std::uint64_t kValues = 10 * kWindowOfHoles / 4;
  auto writer = create();
  const BlockId a = ints(*writer, "a", kValues);
  ASSERT_TRUE(writer->end_define().ok());
  put(*writer, a, 0, kValues);
  ASSERT_TRUE(writer->close().ok());
  const std::uint64_t position = (*(*FileReader::open(in()))->find("a"))->extent_position;
  if (!punch(in(), (position + kWindowOfHoles - 1) / kWindowOfHoles * kWindowOfHoles,
             3 * kWindowOfHoles))
    GTEST_SKIP() << "the file system has no holes";
  PackReport report;
  EXPECT_EQ(pack(merge_, &report).code(), Code::kDamaged);
  EXPECT_FALSE(std::filesystem::exists(out()));
}

TEST_F(PackHolesTest, HolesOutsideTheExtentAreRefused) {
  for (const std::vector<ByteRange>& holes :
       {std::vector<ByteRange>{{0, 11}}, {{5, 5}}, {{0, 5}, {4, 6}}, {{6, 5}}}) {
    PackedBlock packed;
    packed.name = "a";
    packed.extent_length = 10;
    packed.holes = holes;
    EXPECT_EQ(create()->pack_block(std::move(packed)).status().code(), Code::kUsage);
  }
}

}  // namespace
}  // namespace nmb::test
