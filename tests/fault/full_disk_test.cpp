// A disk that is full, or a limit on the length of files: nmcat says so, leaves nothing and keeps
// the target.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "support/corpus.h"
#include "support/model.h"
#include "support/programs.h"

namespace nmb::test {
namespace {

class FullDisk : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::getenv("NMB_TOOLS")) GTEST_SKIP() << "NMB_TOOLS is not set";
    nmcat_ = shell_quoted(std::string(std::getenv("NMB_TOOLS")) + "/nmcat");
    // 1 MB of values.
    ModelBlock block;
    block.dimensions = {{"x", 250'000}};
    block.variables.resize(1);
    block.variables[0].name = "v";
    block.variables[0].dimensions = {0};
    block.resize_values();
    const PackedBlock packed = packed_block("", block, Kind::kCdf1, 0);
    std::string bytes(packed.body->size() + packed.extent_length, '\0');
    auto out = std::as_writable_bytes(std::span(bytes));
    ASSERT_TRUE(packed.body->read_at(0, out.first(packed.body->size())).ok());
    ASSERT_TRUE(packed.extent->read_at(0, out.subspan(packed.body->size())).ok());
    write_file(input_.path() / "in.nc", bytes);
  }
  // Runs nmcat with an output in `folder`, where there is not room for it.
  void expect_refusal(const std::filesystem::path& folder, const std::string& before) {
    const auto target = folder / "out.nmb";
    for (const bool exists : {false, true}) {
      if (exists) write_file(target, "an old target");
      const ProgramResult result = run(before + nmcat_ + " -f -o " + shell_quoted(target.string()) +
                                       " " + shell_quoted((input_.path() / "in.nc").string()));
      EXPECT_EQ(result.exit_code, 2) << result.output;
      EXPECT_NE(result.output.find("nmcat: "), std::string::npos) << result.output;
      std::size_t names = 0;
      for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        EXPECT_EQ(entry.path(), target);
        ++names;
      }
      EXPECT_EQ(names, exists ? 1u : 0u);
      if (exists) {
        EXPECT_EQ(read_file(target).size(), 13u);
      }
    }
  }
  TemporaryFolder input_;
  std::string nmcat_;
};

TEST_F(FullDisk, ALimitOnTheLengthOfFilesIsExitTwo) {
  const TemporaryFolder folder;
  expect_refusal(folder.path(), "trap '' XFSZ; ulimit -f 600; ");
}

TEST_F(FullDisk, AFullFileSystemIsExitTwo) {
  const TemporaryFolder folder;
  const std::string at = shell_quoted(folder.path().string());
  if (geteuid() != 0 || run("mount -t tmpfs -o size=600k none " + at).exit_code != 0)
    GTEST_SKIP() << "cannot mount a file system";
  expect_refusal(folder.path(), "");
  EXPECT_EQ(run("umount " + at).exit_code, 0);
}

}  // namespace
}  // namespace nmb::test
