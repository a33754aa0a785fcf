// Processes of nmb-hdf5, one after the other and at once: each ends alone.
#include "server/hdf5_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/programs.h"

namespace nmb::hdf5 {
namespace {

class Hdf5ProcessTest : public testing::Test {
 protected:
  Hdf5ProcessTest() {
    setenv("NMB_PLUGIN_PATH", std::filesystem::path(NMB_HDF5).parent_path().c_str(), 1);
  }
  ~Hdf5ProcessTest() override { unsetenv("NMB_PLUGIN_PATH"); }

  // Returns the text of its failure.
  static std::string told_by(const std::vector<std::string>& arguments) {
    const auto process = Hdf5Process::start(arguments, -1);
    EXPECT_TRUE(process.ok()) << process.status().text();
    return (*process)->receive({}).text();
  }
  // Whether a process that gets an unknown command says so.
  static bool refuses() {
    return told_by({"nothing"}).find("unknown command of nmb-hdf5") != std::string::npos;
  }
};

TEST_F(Hdf5ProcessTest, ReportsItsFailure) {
  EXPECT_TRUE(refuses());
  EXPECT_NE(
      told_by({"export", "/nowhere", "/nowhere", "0", "0", "0", "", "1"}).find("No such file"),
      std::string::npos);
}

TEST_F(Hdf5ProcessTest, WorksInTheWorkingDirectoryOfNow) {
  test::TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::ofstream(folder.path() / "text.nmb") << "no NMB file, but long enough to be one";
  EXPECT_NE(told_by({"export", "text.nmb", "a.h5", "0", "0", "0", "", "1"}).find("No such file"),
            std::string::npos);
  std::filesystem::current_path(folder.path());
  EXPECT_EQ(told_by({"export", "text.nmb", "a.h5", "0", "0", "0", "", "1"}).find("No such file"),
            std::string::npos);
  std::filesystem::current_path(before);
}

TEST_F(Hdf5ProcessTest, OneThatIsLeftIsEnded) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Hdf5Process::start({"nothing"}, -1).ok());
  }
  EXPECT_TRUE(refuses());
}

TEST_F(Hdf5ProcessTest, ACopyOfTheProcessHasItsOwn) {
  EXPECT_TRUE(refuses());  // by a server that waits from now on
  const pid_t copy = fork();
  if (copy == 0) _exit(refuses() ? 2 : 1);
  EXPECT_TRUE(refuses());
  int status = 0;
  ASSERT_EQ(waitpid(copy, &status, 0), copy);
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST_F(Hdf5ProcessTest, ManyAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> refused(8, 0);
  for (int& count : refused)
    threads.emplace_back([&count] {
      for (int i = 0; i < 10; ++i) count += refuses();
    });
  for (std::thread& thread : threads) thread.join();
  for (const int count : refused) EXPECT_EQ(count, 10);
}

TEST_F(Hdf5ProcessTest, TooLongNamesAreALimit) {
  EXPECT_EQ(Hdf5Process::start({std::string(200 << 10, 'x')}, -1).status().code(), Code::kLimit);
}

TEST(Hdf5Failure, ComesBackWithCodeOffsetAndRule) {
  const Status failure(Code::kDamaged, "a.nmb", 4096, "R-BL-1", "found no block");
  const Status back = decode_failure(bytes_of_fields(failure));
  EXPECT_EQ(back.code(), Code::kDamaged);
  EXPECT_EQ(back.text(), failure.text());
  std::vector<std::byte> cut = bytes_of_fields(failure);
  cut.pop_back();
  EXPECT_NE(decode_failure(cut).text().find("without its code"), std::string::npos);
  EXPECT_NE(decode_failure({}).text().find("without its code"), std::string::npos);
}

}  // namespace
}  // namespace nmb::hdf5
