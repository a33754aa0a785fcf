// Opening a file to write to: its lock, and another process that puts another one in its place.
// fcntl() of this program calls what a test wants to happen between opening and locking.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <filesystem>
#include <functional>

#include "files/files.h"
#include "support/programs.h"

namespace {
std::function<void()> before_lock;
bool without_locks = false;
}  // namespace

extern "C" int fcntl(int fd, int operation, ...) {
  va_list arguments;
  va_start(arguments, operation);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (operation == F_OFD_SETLK && before_lock) before_lock();
  if (operation == F_OFD_SETLK && without_locks) {
    errno = ENOLCK;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fcntl, fd, operation, argument));
}

namespace nmb {
namespace {

namespace fs = std::filesystem;

class OpenOutputTest : public testing::Test {
 protected:
  OpenOutputTest() { test::write_file(path_, "old"); }
  ~OpenOutputTest() override {
    before_lock = nullptr;
    without_locks = false;
  }
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

// HDF5 programs lock the whole file.
TEST_F(OpenOutputTest, LocksOfHdf5ProgramsAreOthers) {
  const int hdf5 = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(hdf5, LOCK_SH | LOCK_NB), 0);
  const auto file = open_output(path_);
  ASSERT_TRUE(file.ok()) << file.status().text();
  ASSERT_EQ(::flock(hdf5, LOCK_UN), 0);
  EXPECT_EQ(::flock(hdf5, LOCK_EX | LOCK_NB), 0);
  ::close(hdf5);
}

TEST_F(OpenOutputTest, ReadersSeeThatThereIsAWriter) {
  const auto reader = FileSource::open(path_);
  ASSERT_TRUE(reader.ok());
  EXPECT_FALSE((*reader)->has_writer());
  auto file = open_output(path_);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE((*reader)->has_writer());
  file->reset();
  EXPECT_FALSE((*reader)->has_writer());
}

// A reader that searched the end of the file may read values there that a commit wrote later.
TEST_F(OpenOutputTest, AHoleThatAWriterFilledIsNoHole) {
  constexpr std::uint64_t kSize = 1 << 20;
  fs::resize_file(path_, 0);
  fs::resize_file(path_, kSize);
  const auto reader = FileSource::open(path_);
  ASSERT_TRUE(reader.ok());
  if (!(*reader)->is_unallocated(0, kSize))
    GTEST_SKIP() << "the file system does not tell of holes";
  auto file = open_output(path_);
  ASSERT_TRUE((*file)->write_at(kSize / 2, std::as_bytes(std::span("values"))).ok());
  ASSERT_TRUE((*reader)->refresh().ok());
  EXPECT_FALSE((*reader)->is_unallocated(kSize / 2, 8));
}

TEST_F(OpenOutputTest, APublishedFileIsLocked) {
  CreateOptions options;
  options.overwrite = true;
  auto file = create_output(path_, options);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(open_output(path_).ok()) << "it has no name yet";
  ASSERT_TRUE((*file)->publish().ok());
  EXPECT_TRUE((*file)->check_held().ok());
  EXPECT_EQ(open_output(path_).status().code(), Code::kBusy);
}

TEST_F(OpenOutputTest, AFileThatAWriterHasLockedIsNotReplaced) {
  CreateOptions options;
  options.overwrite = true;
  for (const bool named : {false, true}) {
    options.named = named;
    auto file = create_output(path_, options);
    ASSERT_TRUE(file.ok());
    {
      const auto writer = open_output(path_);
      EXPECT_EQ(check_new_output(path_, options).code(), Code::kBusy);
      EXPECT_EQ(create_output(path_, options).status().code(), Code::kBusy);
      EXPECT_EQ((*file)->publish().code(), Code::kBusy);
      EXPECT_TRUE((*writer)->check_held().ok());
    }
    EXPECT_TRUE((*file)->publish().ok());
  }
}

// The lock that keeps writers out must be on the file that is replaced.
TEST_F(OpenOutputTest, AFileThatIsReplacedAgainAndAgainIsNotReplacedToo) {
  CreateOptions options;
  options.overwrite = true;
  auto file = create_output(path_, options);
  ASSERT_TRUE(file.ok());
  before_lock = [&] {
    ++locks_;
    replace();
  };
  EXPECT_EQ((*file)->publish().code(), Code::kBusy);
  EXPECT_LT(locks_, 100);
}

TEST_F(OpenOutputTest, AFileThatLostItsNameIsNotHeld) {
  const auto file = open_output(path_);
  ASSERT_TRUE((*file)->check_held().ok());
  fs::rename(path_, other_);
  EXPECT_EQ((*file)->check_held().code(), Code::kBusy);
  test::write_file(path_, "another");
  EXPECT_EQ((*file)->check_held().code(), Code::kBusy);
  fs::rename(other_, path_);
  EXPECT_TRUE((*file)->check_held().ok());
}

TEST_F(OpenOutputTest, WithoutLocksOnlyOneWhoIsAloneWrites) {
  without_locks = true;
  EXPECT_EQ(open_output(path_).status().code(), Code::kUnsupported);
  EXPECT_TRUE(open_output(path_, Locking::kIfPossible).ok());
  // A new file needs the lock from when it has its name.
  CreateOptions options;
  options.overwrite = true;
  for (const Locking locking : {Locking::kRequired, Locking::kIfPossible}) {
    options.locking = locking;
    auto file = create_output(path_, options);
    ASSERT_TRUE(file.ok());
    EXPECT_TRUE((*file)->check_held().ok());
    ASSERT_TRUE((*file)->publish().ok());
    EXPECT_EQ((*file)->check_held().ok(), locking == Locking::kIfPossible);
  }
}

}  // namespace
}  // namespace nmb
