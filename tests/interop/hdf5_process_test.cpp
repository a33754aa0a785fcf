// Processes of nmb-hdf5, one after the other and at once: each ends alone.
#include "client/hdf5_process.h"

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

  // Returns the text of its failure; sets the exit code.
  static std::string told_by(const std::vector<std::string>& arguments, int* code) {
    const auto process = Hdf5Process::start(arguments, -1);
    EXPECT_TRUE(process.ok()) << process.status().text();
    const auto message = (*process)->next();
    EXPECT_TRUE(message.ok()) << message.status().text();
    EXPECT_EQ(message->kind, Message::kFailure);
    *code = (*process)->wait().value();
    return decode_failure(message->content).text();
  }
};

TEST_F(Hdf5ProcessTest, TellsAndEndsWithItsCode) {
  int code = 0;
  EXPECT_NE(told_by({"nothing", "of it"}, &code).find("unknown command of nmb-hdf5"),
            std::string::npos);
  EXPECT_EQ(code, 2);
  EXPECT_NE(told_by({"export", "/nowhere", "/nowhere", "0", "0", "0", "", "1"}, &code)
                .find("No such file"),
            std::string::npos);
  EXPECT_EQ(code, 1);
}

TEST_F(Hdf5ProcessTest, WorksInTheWorkingDirectoryOfNow) {
  test::TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::ofstream(folder.path() / "text.nmb") << "no NMB file, but long enough to be one";
  int code = 0;
  EXPECT_NE(
      told_by({"export", "text.nmb", "a.h5", "0", "0", "0", "", "1"}, &code).find("No such file"),
      std::string::npos);
  std::filesystem::current_path(folder.path());
  EXPECT_EQ(
      told_by({"export", "text.nmb", "a.h5", "0", "0", "0", "", "1"}, &code).find("No such file"),
      std::string::npos);
  std::filesystem::current_path(before);
}

TEST_F(Hdf5ProcessTest, OneThatIsLeftIsEnded) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Hdf5Process::start({"nothing"}, -1).ok());
  }
  int code = 0;
  told_by({"nothing"}, &code);
  EXPECT_EQ(code, 2);
}

TEST_F(Hdf5ProcessTest, ACopyOfTheProcessHasItsOwn) {
  int code = 0;
  told_by({"nothing"}, &code);  // one that waits from now on
  const pid_t copy = fork();
  if (copy == 0) {
    int in_copy = 0;
    told_by({"nothing"}, &in_copy);
    _exit(in_copy);
  }
  told_by({"nothing"}, &code);
  EXPECT_EQ(code, 2);
  int status = 0;
  ASSERT_EQ(waitpid(copy, &status, 0), copy);
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST_F(Hdf5ProcessTest, ManyAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> codes(8, 0);
  for (int& code : codes)
    threads.emplace_back([&code] {
      for (int i = 0; i < 10; ++i) {
        int one = 0;
        told_by({"nothing"}, &one);
        code += one;
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const int code : codes) EXPECT_EQ(code, 20);
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
