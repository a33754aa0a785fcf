// A dry run of the writer lays out the file that the same calls write, and leaves no trace.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "reader/file_reader.h"
#include "support/programs.h"
#include "writer/file_writer.h"

namespace nmb {
namespace {

namespace fs = std::filesystem;

class DryRunTest : public testing::Test {
 protected:
  static FileWriterOptions dry() {
    FileWriterOptions options;
    options.dry_run = true;
    options.sync = false;
    return options;
  }
  static Status define(FileWriter& writer) {
    for (int b = 0; b < 100; ++b) {
      NMB_ASSIGN(const BlockId block, writer.define_block("run/" + std::to_string(b)));
      NMB_ASSIGN(const DimId x, writer.def_dim(block, "x", b == 50 ? 300'000 : 40));
      NMB_TRY(writer.def_var(block, "energy", Type::kDouble, {{x}}).status());
      NMB_TRY(writer.set_field(block, &EntryFields::samples, 2));
    }
    return writer.end_define();
  }
  static Status put(FileWriter& writer) {
    for (BlockId block = 0; block < 100; ++block)
      NMB_TRY(writer.put(
          block, 0, std::span<const double>(std::vector<double>(block == 50 ? 300'000 : 40, 1.5))));
    return {};
  }
  test::TemporaryFolder folder_;
  const std::string path_ = folder_.path() / "out.nmb";
};

TEST_F(DryRunTest, SaysLengthAndTotalsAndWritesNothing) {
  auto planned = FileWriter::create(path_, dry());
  ASSERT_TRUE(planned.ok()) << planned.status().text();
  ASSERT_TRUE(define(**planned).ok());
  EXPECT_EQ((*planned)->planned().status().code(), Code::kUsage);
  EXPECT_EQ((*planned)->sync().code(), Code::kUsage);
  ASSERT_TRUE(put(**planned).ok());
  ASSERT_TRUE((*planned)->close().ok());
  const Result<FilePlan> plan = (*planned)->planned();
  ASSERT_TRUE(plan.ok()) << plan.status().text();
  EXPECT_TRUE(fs::is_empty(folder_.path()));

  FileWriterOptions options = dry();
  options.dry_run = false;
  auto writer = FileWriter::create(path_, options);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(define(**writer).ok());
  ASSERT_TRUE(put(**writer).ok());
  ASSERT_TRUE((*writer)->close().ok());
  EXPECT_EQ((*writer)->planned().status().code(), Code::kUsage);
  const auto reader = FileReader::open(path_);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(plan->file_length, fs::file_size(path_));
  EXPECT_EQ(plan->totals, (*reader)->totals());
  EXPECT_EQ(plan->totals.samples, 200u);
  const std::uint64_t values = 99 * 40 * 8 + 300'000 * 8;
  EXPECT_GT(plan->metadata_bytes, 0u);
  EXPECT_GT(plan->index_bytes, 0u);
  EXPECT_LT(plan->metadata_bytes + plan->index_bytes + values, plan->file_length);
  EXPECT_GT(plan->metadata_bytes + plan->index_bytes + values + 32'768, plan->file_length);
}

TEST_F(DryRunTest, TargetAndFolderAreLookedAtAsEver) {
  for (const bool dry_run : {false, true}) {
    FileWriterOptions options = dry();
    options.dry_run = dry_run;
    const std::string there = folder_.path() / "there.nmb";
    test::write_file(there, "somebody's");
    EXPECT_EQ(FileWriter::create(there, options).status().code(), Code::kExists);
    EXPECT_EQ(FileWriter::create(there + "/out.nmb", options).status().code(), Code::kNotFound);
    EXPECT_EQ(FileWriter::create(folder_.path() / "none/out.nmb", options).status().code(),
              Code::kNotFound);
    options.overwrite = true;
    EXPECT_EQ(FileWriter::create(folder_.path(), options).status().code(), Code::kExists);
    EXPECT_TRUE(FileWriter::create(there, options).ok());
    if (::geteuid() == 0) continue;
    const fs::path closed = folder_.path() / "closed";
    fs::create_directory(closed);
    fs::permissions(closed, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(FileWriter::create(closed / "out.nmb", options).status().code(), Code::kIo);
    fs::remove(closed);
  }
}

// A dry run that adds blocks knows the length of the file, and does not change it.
TEST_F(DryRunTest, AddsToAnExistingFile) {
  FileWriterOptions options = dry();
  options.dry_run = false;
  const auto made = FileWriter::create(path_, options);
  ASSERT_TRUE(made.ok() && define(**made).ok() && put(**made).ok() && (*made)->close().ok());
  const auto before = fs::last_write_time(path_);
  std::uint64_t planned = 0;
  for (const bool dry_run : {true, false}) {
    options.dry_run = dry_run;
    const auto writer = FileWriter::open(path_, options);
    ASSERT_TRUE(writer.ok()) << writer.status().text();
    const Result<BlockId> block = (*writer)->define_block("more");
    ASSERT_TRUE(block.ok());
    const Result<DimId> x = (*writer)->def_dim(*block, "x", 70'000);
    ASSERT_TRUE(x.ok() && (*writer)->def_var(*block, "v", Type::kDouble, {{*x}}).ok());
    ASSERT_TRUE((*writer)->end_define().ok());
    const std::vector<double> values(70'000, 2.5);
    ASSERT_TRUE((*writer)->put(*block, 0, std::span<const double>(values)).ok());
    ASSERT_TRUE((*writer)->close().ok());
    if (dry_run) {
      EXPECT_EQ(fs::last_write_time(path_), before);
      planned = (*writer)->planned()->file_length;
    }
  }
  EXPECT_EQ(planned, fs::file_size(path_));
  test::write_file(path_, "somebody's");
  EXPECT_EQ(FileWriter::open(path_, dry()).status().code(), Code::kUnknownKind);
}

}  // namespace
}  // namespace nmb
