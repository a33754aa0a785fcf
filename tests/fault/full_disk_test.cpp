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

// A command that makes `target` in a folder of a file of 1 MB of values; kilobytes there for it.
struct Case {
  const char* name;
  const char* command;  // of the tools' folder
  const char* target;
  int room;
};
void PrintTo(const Case& of, std::ostream* out) { *out << of.name; }

class FullDisk : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!std::getenv("NMB_TOOLS")) GTEST_SKIP() << "NMB_TOOLS is not set";
    tools_ = std::getenv("NMB_TOOLS");
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
  // Runs the command with an output in `folder`, where there is not room for it.
  void expect_refusal(const std::filesystem::path& folder, const std::string& before) {
    const auto target = folder / GetParam().target;
    for (const bool exists : {false, true}) {
      if (exists) write_file(target, "an old target");
      const ProgramResult result = run(before + shell_quoted(tools_ + "/" + GetParam().command) +
                                       " -f " + shell_quoted((input_.path() / "in.nc").string()) +
                                       (GetParam().command == std::string("nmcat") ? " -o " : " ") +
                                       shell_quoted(target.string()));
      EXPECT_EQ(result.exit_code, 2) << result.output;
      EXPECT_EQ(result.output.find(std::string(GetParam().command) + ": " + target.string() + ": "),
                0U)
          << result.output;
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
  std::string tools_;
};

TEST_P(FullDisk, ALimitOnTheLengthOfFilesIsExitTwo) {
  const TemporaryFolder folder;
  expect_refusal(folder.path(), "trap '' XFSZ; ulimit -f 600; ");
}

TEST_P(FullDisk, AFullFileSystemIsExitTwo) {
  const TemporaryFolder folder;
  const std::string at = shell_quoted(folder.path().string());
  const std::string room = std::to_string(GetParam().room);
  if (geteuid() != 0 || run("mount -t tmpfs -o size=" + room + "k none " + at).exit_code != 0)
    GTEST_SKIP() << "cannot mount a file system";
  expect_refusal(folder.path(), "");
  EXPECT_EQ(run("umount " + at).exit_code, 0);
}

// HDF5 is made of an NMB file that lies beside it until it is there: no room for that, or for both.
INSTANTIATE_TEST_SUITE_P(Tools, FullDisk,
                         testing::Values(Case{"Merged", "nmcat", "out.nmb", 600},
                                         Case{"Packed", "nmconvert", "out.nmb", 600},
                                         Case{"Classic", "nmconvert", "out.nc", 600},
                                         Case{"BetweenHdf5", "nmconvert", "out.h5", 600},
                                         Case{"Hdf5", "nmconvert", "out.h5", 1500}),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace nmb::test
