// Opening a file to write to while another process puts another one in its place. flock() of this
// program calls what a test wants to happen between opening and locking.
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "nmb/output_file.h"
#include "support/programs.h"

namespace {
std::function<void()> before_lock;
}  // namespace

extern "C" int flock(int fd, int operation) noexcept {
  if (before_lock) before_lock();
  return static_cast<int>(::syscall(SYS_flock, fd, operation));
}

namespace nmb {
namespace {

namespace fs = std::filesystem;

class OpenOutputTest : public testing::Test {
 protected:
  OpenOutputTest() { test::write_file(path_, "old"); }
  ~OpenOutputTest() override { before_lock = nullptr; }
  void replace() {
    test::write_file(other_, "new file");
    fs::rename(other_, path_);
  }
  test::TemporaryFolder folder_;
  const std::string path_ = (folder_.path() / "f").string();
  const std::string other_ = (folder_.path() / "other").string();
  int locks_ = 0;
};

TEST_F(OpenOutputTest, AFileThatWasReplacedIsOpenedAgain) {
  before_lock = [&] {
    if (locks_++ == 0) replace();
  };
  const auto file = open_output(path_);
  ASSERT_TRUE(file.ok()) << file.status().text();
  EXPECT_EQ(locks_, 2);
  EXPECT_EQ(*(*file)->size(), 8u);
  EXPECT_EQ(open_output(path_).status().code(), Code::kBusy);
}

TEST_F(OpenOutputTest, AFileThatIsReplacedAgainAndAgainIsBusy) {
  before_lock = [&] {
    ++locks_;
    replace();
  };
  EXPECT_EQ(open_output(path_).status().code(), Code::kBusy);
  EXPECT_GT(locks_, 1);
  EXPECT_LT(locks_, 100);
}

TEST_F(OpenOutputTest, AFileThatWasRemovedIsNotFound) {
  before_lock = [&] { fs::remove(path_); };
  EXPECT_EQ(open_output(path_).status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace nmb
