// open_hdf5(): the same blocks as those that pack() makes of a file, with values that are read when
// they are asked for.
#include <gtest/gtest.h>

#include <cstdlib>

#include "client/hdf5.h"
#include "extended_file.h"
#include "files/files.h"
#include "merge/reporting/merge.h"
#include "support/counting_source.h"
#include "support/programs.h"

namespace nmb::test {
namespace {

// Counts reads of a file that it keeps.
class OpenHdf5Test : public testing::Test {
 protected:
  OpenHdf5Test() { use_program_in(std::filesystem::path(NMB_HDF5).parent_path().string()); }
  ~OpenHdf5Test() override { unsetenv("NMB_PLUGIN_PATH"); }

  static void use_program_in(const std::string& folder) {
    setenv("NMB_PLUGIN_PATH", folder.c_str(), 1);
  }
  std::string path(const char* name) const { return (folder_.path() / name).string(); }
  std::shared_ptr<CountingSource> file() const {
    std::shared_ptr<const ByteSource> file = *FileSource::open(path("a.h5"));
    return std::make_shared<CountingSource>(std::move(file));
  }
  // Of names, each with one variable `v`: 100 numbers from the block's place in the list on.
  void make(const std::vector<std::string>& names) {
    std::vector<ExtendedBlock> blocks;
    for (std::size_t i = 0; i < names.size(); ++i) {
      Bytes values;
      for (std::uint8_t n = 0; n < 100; ++n) values.put(static_cast<std::uint8_t>(i + n));
      blocks.emplace_back(names[i]);
      blocks.back().variable("v", Type::kUByte, {100}, values);
    }
    write_extended(path("a.nmb"), blocks);
    const ProgramResult made =
        run(shell_quoted(NMB_HDF5) + " export " + shell_quoted(path("a.nmb")) + " " +
            shell_quoted(path("a.h5")) + " 0 0 0 '' 2");
    ASSERT_EQ(made.exit_code, 0) << made.output;
  }

  TemporaryFolder folder_;
};

TEST_F(OpenHdf5Test, BlocksAscendByBytesOfNames) {
  make({"", "a", "a.x", "a/b", "b"});
  const auto blocks = open_hdf5(file());
  ASSERT_TRUE(blocks.ok()) << blocks.status().text();
  std::vector<std::string> names;
  for (const auto& block : *blocks) {
    names.push_back(block->name);
    EXPECT_EQ(block->entry.name, block->name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"", "a", "a.x", "a/b", "b"}));
}

TEST_F(OpenHdf5Test, ValuesAreReadWhenTheyAreAskedFor) {
  make({"", "a", "b"});
  const auto counted = file();
  const auto blocks = open_hdf5(counted);
  ASSERT_TRUE(blocks.ok()) << blocks.status().text();
  EXPECT_EQ(counted->bytes(), 0u);
  for (std::uint8_t i = 0; i < 3; ++i) {
    const auto values = (*blocks)[i]->read_all<std::uint8_t>(0);
    ASSERT_TRUE(values.ok()) << values.status().text();
    ASSERT_EQ(values->size(), 100u);
    EXPECT_EQ(values->front(), i);
    EXPECT_EQ(values->back(), i + 99);
    EXPECT_EQ(counted->bytes(), (i + 1u) * 100);
  }
}

TEST_F(OpenHdf5Test, EntriesAreThoseOfPackedFiles) {
  make({"", "a", "a/b"});
  PackOptions options;
  options.inputs = {path("a.h5")};
  options.output = path("packed.nmb");
  options.block_name = "{group}";
  options.writer.sync = false;
  PackReport report;
  const Status packed = pack(options, &report);
  ASSERT_TRUE(packed.ok()) << packed.text();
  const auto reader = FileReader::open(options.output);
  const auto blocks = open_hdf5(file());
  ASSERT_TRUE(reader.ok() && blocks.ok());
  EXPECT_EQ((*reader)->totals().blocks, blocks->size());
  for (const auto& block : *blocks) {
    const auto entry = (*reader)->find(block->name);
    ASSERT_TRUE(entry.ok() && *entry) << block->name;
    EXPECT_EQ((*entry)->totals(), block->entry.totals()) << block->name;
    EXPECT_EQ((*entry)->kind, block->entry.kind);
    EXPECT_EQ((*entry)->raw_length, block->entry.raw_length);
    EXPECT_EQ((*entry)->extent_length, block->entry.extent_length);
  }
}

TEST_F(OpenHdf5Test, FailuresSayWhatIsWrong) {
  make({""});
  const auto whole = std::filesystem::file_size(path("a.h5"));
  use_program_in(path("nowhere"));
  EXPECT_EQ(open_hdf5(file()).status().code(), Code::kUnsupported);
  use_program_in(std::filesystem::path(NMB_HDF5).parent_path().string());
  std::filesystem::resize_file(path("a.h5"), whole / 2);
  const Status cut = open_hdf5(file()).status();
  EXPECT_EQ(cut.code(), Code::kDamaged);
  EXPECT_EQ(cut.file(), path("a.h5"));
}

}  // namespace
}  // namespace nmb::test
