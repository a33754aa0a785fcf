// Inputs that are opened when they are read: how many are open, and files that change.
#include "files/pooled_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include "support/programs.h"

namespace nmb {
namespace {

namespace fs = std::filesystem;

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), {}));
}

std::string text_of(const PooledFile& file) {
  std::string text(file.size(), '?');
  const Status status = file.read_at(0, std::as_writable_bytes(std::span(text)));
  return status.ok() ? text : status.text();
}

class PooledFileTest : public testing::Test {
 protected:
  std::shared_ptr<PooledFile> file(const std::string& name, std::string_view text) {
    const std::string path = path_of(name);
    test::write_file(path, text);
    Result<std::shared_ptr<PooledFile>> opened = PooledFile::open(path, pool_);
    EXPECT_TRUE(opened.ok()) << opened.status().text();
    return *opened;
  }
  std::string path_of(const std::string& name) const { return (folder_.path() / name).string(); }

  test::TemporaryFolder folder_;
  std::shared_ptr<FilePool> pool_ = std::make_shared<FilePool>(3);
};

TEST_F(PooledFileTest, FewOfManyAreOpen) {
  const std::size_t before = open_descriptors();
  std::vector<std::shared_ptr<PooledFile>> files;
  for (int i = 0; i < 50; ++i)
    files.push_back(file(std::to_string(i), "text " + std::to_string(i)));
  EXPECT_EQ(open_descriptors(), before);
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(text_of(*files[static_cast<std::size_t>(i)]), "text " + std::to_string(i));
      EXPECT_LE(open_descriptors(), before + 3);
    }
  files.clear();
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(PooledFileTest, FileThatStayedIsUnchanged) {
  auto one = file("one", "text");
  EXPECT_EQ(text_of(*one), "text");
  EXPECT_TRUE(one->check_unchanged().ok());
}

TEST_F(PooledFileTest, FileOfAnotherTimeIsTold) {
  auto one = file("one", "text");
  fs::last_write_time(path_of("one"),
                      fs::last_write_time(path_of("one")) + std::chrono::seconds(1));
  const Status status = one->check_unchanged();
  EXPECT_EQ(status.code(), Code::kDamaged);
  EXPECT_EQ(status.text(), path_of("one") + ": the file changed while it was read");
}

TEST_F(PooledFileTest, FileOfAnotherLengthIsToldWhenItIsOpenedAgain) {
  auto one = file("one", "text");
  test::write_file(path_of("one"), "text and more");
  EXPECT_EQ(text_of(*one), path_of("one") + ": the file changed while it was read");
  EXPECT_FALSE(one->check_unchanged().ok());
}

TEST_F(PooledFileTest, FileThatWasReplacedIsTold) {
  auto one = file("one", "text");
  EXPECT_EQ(text_of(*one), "text");
  const auto time = fs::last_write_time(path_of("one"));
  test::write_file(path_of("other"), "else");
  fs::last_write_time(path_of("other"), time);
  fs::rename(path_of("other"), path_of("one"));
  EXPECT_EQ(text_of(*one), "text") << "still open";
  EXPECT_EQ(one->check_unchanged().code(), Code::kDamaged);
}

TEST_F(PooledFileTest, WhatIsUnchangedMayBeSaidByTheCaller) {
  auto one = file("one", "text");
  one->set_unchanged([](const ByteSource& now) {
    std::string text(4, '?');
    NMB_TRY(now.read_at(0, std::as_writable_bytes(std::span(text))));
    return text == "text" ? Status() : Status(Code::kDamaged, "other");
  });
  test::write_file(path_of("one"), "text and more");
  EXPECT_EQ(text_of(*one), "text");
  EXPECT_TRUE(one->check_unchanged().ok());
  test::write_file(path_of("one"), "else");
  EXPECT_EQ(one->check_unchanged().message(), "other");
}

TEST_F(PooledFileTest, CallerIsNotAskedAboutAnOldFileThatStayed) {
  const auto age = [&](const std::string& name, int seconds) {
    test::write_file(path_of(name), "text");
    fs::last_write_time(path_of(name),
                        fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
  };
  age("old", 60);
  age("new", 0);
  for (const auto& [name, most] : {std::pair("old", 0), std::pair("new", 2)}) {
    int opened = 0, asked = 0;
    auto kept = PooledFile::open_and_keep(pool_, [&, path = path_of(name)] {
      ++opened;
      return FileSource::open(path);
    });
    ASSERT_TRUE(kept.ok());
    (*kept)->set_unchanged([&](const ByteSource&) {
      ++asked;
      return Status();
    });
    std::vector<std::shared_ptr<PooledFile>> others;  // for which it is closed
    for (const char* other : {"a", "b", "c"}) text_of(*others.emplace_back(file(other, other)));
    EXPECT_TRUE((*kept)->check_unchanged().ok());
    EXPECT_EQ(opened, most == 0 ? 1 : 2) << name;
    EXPECT_EQ(text_of(**kept), "text");
    EXPECT_EQ(asked, most) << name;
    // Somebody may have added to it: the caller says whether that counts.
    age(name, 30);
    EXPECT_TRUE((*kept)->check_unchanged().ok());
    EXPECT_EQ(asked, most + 1) << name;
  }
}

TEST_F(PooledFileTest, ThreadsOpenAtTheSameTime) {
  std::atomic<int> opening = 0;
  std::vector<std::shared_ptr<PooledFile>> files;
  for (const char* name : {"one", "two"}) {
    test::write_file(path_of(name), name);
    files.push_back(*PooledFile::open_and_keep(pool_, [&, path = path_of(name)] {
      // From the second time on, waits until both files are being opened.
      if (++opening > 2)
        for (int i = 0; i < 5000 && opening < 4; ++i)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return FileSource::open(path);
    }));
  }
  const std::size_t before = open_descriptors();
  std::vector<std::shared_ptr<PooledFile>> others;  // for which they are closed
  for (const char* other : {"a", "b", "c"}) text_of(*others.emplace_back(file(other, other)));
  {
    const std::jthread other([&] { EXPECT_EQ(text_of(*files[0]), "one"); });
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(text_of(*files[1]), "two");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  }
  EXPECT_LE(open_descriptors(), before + 1);
}

// A file that two threads open at once is kept once.
TEST_F(PooledFileTest, ThreadsOpenTheSameFile) {
  const std::size_t before = open_descriptors();
  {
    auto one = file("one", "text");
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, i] {
        const auto own = file("own" + std::to_string(i), "own");
        for (int k = 0; k < 100; ++k) {
          EXPECT_EQ(text_of(*one), "text");
          EXPECT_EQ(text_of(*own), "own");
        }
      });
    threads.clear();
    EXPECT_LE(open_descriptors(), before + 3);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(PooledFileTest, FileThatIsGoneIsTold) {
  auto one = file("one", "text");
  fs::remove(path_of("one"));
  EXPECT_EQ(one->check_unchanged().code(), Code::kNotFound);
}

}  // namespace
}  // namespace nmb
