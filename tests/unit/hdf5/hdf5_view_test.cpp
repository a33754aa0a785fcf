// The promises of writer/file_writer.h and FileWriterOptions::hdf5_view; in
// tests/interop/hdf5_view_test.py, HDF5 programs read the views.
#include "view/hdf5_view.h"

#include <gtest/gtest.h>

#include <numeric>

#include "encoding/lookup3.h"
#include "reader/file_reader.h"
#include "superblock/superblock.h"
#include "support/corpus.h"
#include "support/faulty_output.h"
#include "support/model.h"
#include "support/programs.h"
#include "support/vectors.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

std::uint32_t lookup3_of(std::string_view text) { return lookup3(std::as_bytes(std::span(text))); }

TEST(Lookup3, IsWhatItsAuthorTells) {
  EXPECT_EQ(lookup3_of(""), 0xdeadbeefu);
  EXPECT_EQ(lookup3_of("Four score and seven years ago"), 0x17770551u);
}

TEST(ViewCost, SaysWhatIsLargeOrSlow) {
  constexpr std::uint64_t kMiB = 1 << 20;
  EXPECT_EQ((ViewCost{kMiB, kMiB, 20'000}).text(), "");
  EXPECT_EQ((ViewCost{2 * kMiB, 100 * kMiB, 1}).text(), "");
  EXPECT_EQ((ViewCost{3 * kMiB, 100 * kMiB, 1}).text(),
            "the HDF5 view takes 3145728 bytes, 3 % of the file without it");
  const std::string slow = (ViewCost{kMiB, 100 * kMiB, 20'001}).text();
  EXPECT_TRUE(slow.starts_with("netCDF-C reads all definitions")) << slow;
  EXPECT_NE(slow.find("20001 dimensions and variables; h5py"), slow.npos) << slow;
}

class Hdf5ViewTest : public testing::Test {
 protected:
  Hdf5ViewTest() {
    options_.piece_size = 65536;
    options_.sync = false;
    options_.overwrite = true;
    options_.on_no_view = [this](const std::string& reason) {
      reason_ = reason;
      ++reasons_;
      return Status();
    };
  }
  std::string path() const { return (folder_.path() / "f.nmb").string(); }
  FileWriterOptions with(Hdf5View view) const {
    FileWriterOptions options = options_;
    options.hdf5_view = view;
    return options;
  }
  // A variable "v" of `records` records of `length` shorts, and "n" of ints.
  BlockId define(FileWriter& writer, const std::string& name, std::uint64_t length) {
    const BlockId block = *writer.define_block(name);
    const DimId t = *writer.def_dim(block, "t", kUnlimited);
    const DimId x = *writer.def_dim(block, "x", length);
    const DimId dimensions[] = {t, x};
    EXPECT_TRUE(writer.def_var(block, "n", Type::kInt, std::span(&x, 1)).ok());
    EXPECT_TRUE(writer.def_var(block, "v", Type::kShort, dimensions).ok());
    return block;
  }
  bool has_view() const { return shown() != 0; }
  // The generation that HDF5 programs see of a sound file; 0: none.
  std::uint64_t shown() const {
    const auto reader = FileReader::open(path());
    EXPECT_TRUE(reader.ok());
    EXPECT_EQ(findings_of(std::filesystem::path(path())), "");
    const auto bytes = read_file(path());
    EXPECT_EQ((*reader)->has_hdf5_view(), bytes[1] == std::byte{'H'});
    const auto generation = (*reader)->hdf5_view_generation();
    EXPECT_TRUE(generation.ok()) << generation.status().text();
    EXPECT_EQ((*reader)->has_hdf5_view(), *generation != 0);
    return *generation;
  }
  // Opens the file and writes records [first, first + count) of "v" of block "a".
  Status grow(std::uint64_t first, std::uint64_t count, std::uint64_t length, Hdf5View view) {
    NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, FileWriter::open(path(), with(view)));
    NMB_TRY(writer->end_define());
    NMB_ASSIGN(const BlockId block, writer->find_block("a"));
    std::vector<std::int16_t> values(count * length, 7);
    NMB_TRY(writer->put(block, 1, {{first, 0}, {count, length}, {}},
                        std::span<const std::int16_t>(values)));
    return writer->close();
  }

  TemporaryFolder folder_;
  FileWriterOptions options_;
  std::string reason_;
  int reasons_ = 0;
};

TEST_F(Hdf5ViewTest, RecordsOfSeveralGenerationsAreShownWhereEachLiesInOneRun) {
  constexpr std::uint64_t kHalfPiece = 16384;  // a record is half a piece
  {
    auto writer = FileWriter::create(path(), with(Hdf5View::kOn));
    ASSERT_TRUE(writer.ok());
    const BlockId block = define(**writer, "a", kHalfPiece);
    ASSERT_TRUE((*writer)->end_define().ok());
    std::vector<std::int32_t> n(kHalfPiece, 3);
    ASSERT_TRUE((*writer)->put(block, 0, std::span<const std::int32_t>(n)).ok());
    ASSERT_TRUE((*writer)->close().ok());
  }
  EXPECT_EQ(shown(), 1u);
  ASSERT_TRUE(grow(0, 2, kHalfPiece, Hdf5View::kOn).ok());
  EXPECT_EQ(shown(), 2u);
  ASSERT_TRUE(grow(2, 3, kHalfPiece, Hdf5View::kOff).ok());
  EXPECT_EQ(shown(), 2u);
  const Status status = grow(5, 1, kHalfPiece, Hdf5View::kOn);
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(shown(), 4u);
}

TEST_F(Hdf5ViewTest, OneStaysWhateverBecomesOfItsBlocks) {
  {
    auto writer = FileWriter::create(path(), with(Hdf5View::kOn));
    ASSERT_TRUE(writer.ok());
    for (const char* name : {"a", "b", "c"}) define(**writer, name, 4);
    ASSERT_TRUE((*writer)->close().ok());
  }
  const auto before = read_file(path());
  ASSERT_TRUE(grow(0, 7, 4, Hdf5View::kOff).ok());
  EXPECT_EQ(reasons_, 1);
  EXPECT_NE(reason_.find("shows generation 1"), std::string::npos) << reason_;
  EXPECT_EQ(shown(), 1u);
  {
    auto writer = FileWriter::open(path(), with(Hdf5View::kOff));
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->remove_block(*(*writer)->find_block("b")).ok());
    ASSERT_TRUE((*writer)->rename_block(*(*writer)->find_block("c"), "d").ok());
    ASSERT_TRUE((*writer)->end_define().ok());
    ASSERT_TRUE((*writer)->close().ok());
  }
  EXPECT_EQ(reasons_, 1) << "told again: " << reason_;
  EXPECT_EQ(shown(), 1u);
  // Where none can be made of the newest generation, it stays too.
  {
    auto writer = FileWriter::open(path(), with(Hdf5View::kAuto));
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->define_block("a/v").ok());
    ASSERT_TRUE((*writer)->end_define().ok());
    ASSERT_TRUE((*writer)->close().ok());
  }
  EXPECT_EQ(reason_.find("HDF5 view: object \"a/v\": found two objects of one name"), 0u)
      << reason_;
  EXPECT_EQ(shown(), 1u);
  const auto after = read_file(path());
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + kHdf5Size, after.begin()));
}

TEST_F(Hdf5ViewTest, OfAFileWithoutOneNothingIsTold) {
  {
    auto writer = FileWriter::create(path(), options_);
    ASSERT_TRUE(writer.ok());
    define(**writer, "a", 4);
    ASSERT_TRUE((*writer)->close().ok());
  }
  ASSERT_TRUE(grow(0, 7, 4, Hdf5View::kOff).ok());
  EXPECT_EQ(reasons_, 0);
  EXPECT_EQ(shown(), 0u);
}

TEST_F(Hdf5ViewTest, AVariableOfWhichAPartWasWrittenIsRefused) {
  auto writer = FileWriter::create(path(), with(Hdf5View::kOn));
  ASSERT_TRUE(writer.ok());
  const BlockId block = define(**writer, "a", 200'000);
  ASSERT_TRUE((*writer)->end_define().ok());
  const std::vector<std::int32_t> values(100'000, 7);
  ASSERT_TRUE(
      (*writer)->put(block, 0, {{0}, {100'000}, {}}, std::span<const std::int32_t>(values)).ok());
  const Status status = (*writer)->close();
  EXPECT_EQ(status.code(), Code::kUnsupported) << status.text();
  EXPECT_NE(status.text().find("variable \"a/n\": found values of which some were never written"),
            std::string::npos)
      << status.text();
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(Hdf5ViewTest, ABlockOfHolesAloneIsShown) {
  auto writer = FileWriter::create(path(), with(Hdf5View::kOn));
  ASSERT_TRUE(writer.ok());
  define(**writer, "a", 200'000);
  ASSERT_TRUE((*writer)->close().ok());
  EXPECT_TRUE(has_view());
}

TEST_F(Hdf5ViewTest, AutoLeavesItOutAndSaysWhy) {
  auto writer = FileWriter::create(path(), with(Hdf5View::kAuto));
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->define_block("a/v").ok());
  define(**writer, "a", 4);
  ASSERT_TRUE((*writer)->close().ok());
  EXPECT_FALSE(has_view());
  EXPECT_EQ(reason_.find("HDF5 view: object \"a/v\": found two objects of one name"), 0u)
      << reason_;
}

TEST_F(Hdf5ViewTest, AutoLeavesItOutOfVeryManyObjects) {
  auto writer = FileWriter::create(path(), with(Hdf5View::kAuto));
  ASSERT_TRUE(writer.ok());
  const BlockId block = *(*writer)->define_block("a");
  for (std::uint64_t i = 0; i <= kMostAutoViewObjects; ++i)
    ASSERT_TRUE((*writer)->def_dim(block, "d" + std::to_string(i), 1).ok());
  ASSERT_TRUE((*writer)->close().ok());
  EXPECT_FALSE(has_view());
  EXPECT_NE(reason_.find("at most 100000"), std::string::npos) << reason_;
  const Status status = add_hdf5_view(path(), options_);
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_TRUE(has_view());
}

TEST_F(Hdf5ViewTest, EveryFailureOfAddingOneLeavesTheFileOrTheView) {
  {
    auto writer = FileWriter::create(path(), options_);
    ASSERT_TRUE(writer.ok());
    define(**writer, "a/b", 4);
    define(**writer, "c", 4);
    ASSERT_TRUE((*writer)->close().ok());
  }
  const auto before = read_file(path());
  Fault count;
  FileWriterOptions options;
  options.layer = count.layer();
  ASSERT_TRUE(add_hdf5_view(path(), options).ok());
  for (std::uint64_t call = 0; call < count.calls; ++call) {
    for (const Fault::How how : {Fault::How::kOnce, Fault::How::kForEver, Fault::How::kShort}) {
      SCOPED_TRACE(call);
      write_file(path(), {reinterpret_cast<const char*>(before.data()), before.size()});
      Fault fault{call, how};
      options.layer = fault.layer();
      ASSERT_EQ(add_hdf5_view(path(), options).code(), Code::kIo);
      ASSERT_EQ(findings_of(std::filesystem::path(path()),
                            {"R-FL-2", "R-ID-5", "R-SB-1", "R-SB-3", "R-SB-12", "R-SB-13"}),
                "");
      ASSERT_TRUE(add_hdf5_view(path(), options_).ok());
      const auto reader = FileReader::open(path());
      ASSERT_TRUE(reader.ok());
      ASSERT_EQ(shown(), (*reader)->generation());
    }
  }
}

}  // namespace
}  // namespace nmb::test
