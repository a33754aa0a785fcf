// Outputs that are inputs, or written twice, whatever they are called.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "files/files.h"
#include "files/visited_files.h"
#include "support/programs.h"

namespace nmb {
namespace {

namespace fs = std::filesystem;

class OutputSetTest : public testing::Test {
 protected:
  OutputSetTest() {
    std::ofstream(in("a")) << "a";
    std::ofstream(in("b")) << "b";
    fs::create_directory(in("d"));
    fs::create_directory_symlink("d", in("link"));
    fs::create_symlink("../a", in("d/soft"));
    fs::create_hard_link(in("a"), in("d/hard"));
    fs::create_symlink("link/new", in("dangling"));
    fs::create_symlink("loop", in("loop"));
  }
  std::string in(const std::string& name) const { return (folder_.path() / name).string(); }
  // Whether the second of two outputs is found to be the first.
  bool same(const std::string& first, const std::string& second) const {
    OutputSet outputs;
    EXPECT_TRUE(outputs.add(in(first), "output").ok());
    const Status status = outputs.add(in(second), "report");
    EXPECT_TRUE(status.ok() || status.code() == Code::kUsage);
    return !status.ok();
  }

  test::TemporaryFolder folder_;
};

TEST_F(OutputSetTest, FilesThatExist) {
  for (const char* name : {"a", "./a", "d/../a", "link/../a", "d/soft", "link/soft", "d/hard"})
    EXPECT_TRUE(same("a", name)) << name;
  for (const char* name : {"b", "d/a", "a.part", "d", "link", "loop"})
    EXPECT_FALSE(same("a", name)) << name;
}

TEST_F(OutputSetTest, FilesThatDoNotExist) {
  for (const char* name : {"d/new", "link/new", "./d/./new", "d/../link/new", "dangling",
                           "d/gone/../new", "gone/../d/new", "link/gone/../../d/new"})
    EXPECT_TRUE(same("d/new", name)) << name;
  for (const char* name : {"new", "d/new2", "d/new/new", "d/gone/new", "gone/d/new", "loop"})
    EXPECT_FALSE(same("d/new", name)) << name;
  // Folders that are still to be made.
  EXPECT_TRUE(same("d/x/y/new", "link/x/./y/new"));
  EXPECT_FALSE(same("d/x/y/new", "d/x/new"));
}

TEST_F(OutputSetTest, WhatCannotBeToldRefusesAnOutputThatExists) {
  OutputSet outputs;
  EXPECT_TRUE(outputs.add(in("new"), "output").ok());
  EXPECT_TRUE(outputs.refuse_unknown("x.h5", "too much").ok());
  EXPECT_TRUE(outputs.add(in("a"), "report").ok());
  const Status refused = outputs.refuse_unknown("x.h5", "too much");
  EXPECT_EQ(refused.code(), Code::kUsage);
  EXPECT_EQ(refused.file(), in("a"));
  EXPECT_EQ(refused.message(),
            "cannot find out whether the input x.h5 refers to this file: too much; choose another "
            "report that "
            "does not exist yet");
}

TEST(VisitedFiles, EachOnceWithinLimits) {
  using Entry = VisitedFiles::VisitResult;
  constexpr std::chrono::minutes kMinute(1);
  VisitedFiles files;
  EXPECT_EQ(files.enter("a", 2, kMinute), Entry::kNew);
  EXPECT_EQ(files.enter("a", 2, kMinute), Entry::kKnown);
  EXPECT_EQ(files.enter("b", 2, kMinute), Entry::kNew);
  EXPECT_EQ(files.enter("c", 2, kMinute), Entry::kTooMany);
  EXPECT_EQ(files.enter("c", 3, kMinute), Entry::kNew);
  files.add_time(2 * kMinute);
  EXPECT_EQ(files.enter("a", 9, kMinute), Entry::kKnown);
  EXPECT_EQ(files.enter("d", 9, kMinute), Entry::kTooMany);
}

TEST_F(OutputSetTest, Inputs) {
  OutputSet outputs;
  ASSERT_TRUE(outputs.add(in("d/new"), "output").ok());
  EXPECT_FALSE(outputs.replaces());
  EXPECT_TRUE(outputs.check_input(in("a"), "input").ok());
  // A file that does not exist may be referred to.
  EXPECT_EQ(outputs.check_reference(in("link/new"), "v.nmb").code(), Code::kUsage);
  ASSERT_TRUE(outputs.add(in("d/hard"), "report").ok());
  EXPECT_TRUE(outputs.replaces());
  EXPECT_TRUE(outputs.check_input(in("b"), "input").ok());
  const Status status = outputs.check_input(in("a"), "input");
  EXPECT_EQ(status.code(), Code::kUsage);
  EXPECT_EQ(status.file(), in("d/hard"));
  EXPECT_EQ(status.message(), "is also the input " + in("a") + "; choose another report");
  EXPECT_EQ(outputs.check_reference(in("d/soft"), "v.nmb").code(), Code::kUsage);
}

TEST_F(OutputSetTest, ResumableOutputs) {
  OutputSet outputs;
  ASSERT_TRUE(outputs.add_output(in("out"), true).ok());
  EXPECT_FALSE(outputs.add(in("link/../.out.part"), "report").ok());
  EXPECT_FALSE(outputs.add(in(".out.journal"), "report").ok());
  OutputSet whole;
  ASSERT_TRUE(whole.add_output(in("out"), false).ok());
  EXPECT_TRUE(whole.add(in(".out.part"), "report").ok());
}

}  // namespace
}  // namespace nmb
