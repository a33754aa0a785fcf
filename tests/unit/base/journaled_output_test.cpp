// Files with a journal: what a run before has written is found again, and nothing else.
#include "files/journaled_output.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "files/files.h"
#include "support/programs.h"

namespace nmb {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

class JournaledOutputTest : public testing::Test {
 protected:
  Result<std::unique_ptr<OutputFile>> create(const std::string& key = "key") const {
    CreateOptions options;
    options.resume_key = key;
    return create_output(path_, options);
  }
  // A run that writes parts of 8 KiB, each of bytes of its number, and ends.
  void write_parts(int from, int to) const {
    const auto file = create();
    ASSERT_TRUE(file.ok()) << file.status().text();
    for (int i = from; i < to; ++i)
      ASSERT_TRUE((*file)->write_at(static_cast<std::uint64_t>(i) * kPart, part(i)).ok());
  }
  static Bytes part(int i) { return Bytes(kPart, static_cast<std::byte>(i + 1)); }
  static bool recalls(const OutputFile& file, int i) {
    Bytes found(kPart);
    return file.recall(static_cast<std::uint64_t>(i) * kPart, found) && found == part(i);
  }
  bool is_there(const char* name) const { return fs::exists(folder_.path() / name); }
  fs::path journal() const { return folder_.path() / ".f.journal"; }

  static constexpr std::uint64_t kPart = 8192;
  test::TemporaryFolder folder_;
  const std::string path_ = (folder_.path() / "f").string();
};

TEST_F(JournaledOutputTest, RecallsWhatWasWrittenAtOnce) {
  write_parts(0, 3);
  EXPECT_TRUE(is_there(".f.part"));
  write_parts(3, 4);
  const auto file = create();
  ASSERT_TRUE(file.ok());
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(recalls(**file, i)) << i;
  EXPECT_FALSE(recalls(**file, 4));
}

// As a job of another number of ranks asks for it.
TEST_F(JournaledOutputTest, RecallsPartsOfSeveralWrites) {
  write_parts(0, 2);
  write_parts(3, 4);
  const auto file = create();
  ASSERT_TRUE(file.ok());
  Bytes less(kPart - 1), both(kPart + 2), more(kPart + 1);
  EXPECT_TRUE((*file)->recall(1, less));
  EXPECT_EQ(less, Bytes(kPart - 1, std::byte{1}));
  EXPECT_TRUE((*file)->recall(kPart - 2, both));
  EXPECT_EQ(both[1], std::byte{1});
  EXPECT_EQ(both[2], std::byte{2});
  EXPECT_EQ(both.back(), std::byte{2});
  // Nobody wrote what is between.
  EXPECT_FALSE((*file)->recall(kPart, more));
  EXPECT_FALSE((*file)->recall(3 * kPart - 1, more));
  {
    std::fstream damaged(folder_.path() / ".f.part",
                         std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(17).put('x');
  }
  EXPECT_FALSE((*file)->recall(kPart - 2, both));
  EXPECT_TRUE((*file)->recall(kPart + 1, less));
}

TEST_F(JournaledOutputTest, DoesNotBelieveOtherBytes) {
  write_parts(0, 3);
  {
    std::fstream file(folder_.path() / ".f.part", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(kPart + 17).put('x');
  }
  const auto file = create();
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(recalls(**file, 0));
  EXPECT_FALSE(recalls(**file, 1));
  EXPECT_TRUE(recalls(**file, 2));
  // Written anew it is believed again.
  ASSERT_TRUE((*file)->write_at(kPart, part(1)).ok());
}

TEST_F(JournaledOutputTest, EveryBitAndEveryCutOfTheJournalCount) {
  write_parts(0, 2);
  std::string whole(fs::file_size(journal()), '\0');
  std::ifstream(journal(), std::ios::binary)
      .read(whole.data(), static_cast<std::streamsize>(whole.size()));
  ASSERT_EQ(whole.size(), 24u + 2 * 32);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    test::write_file(journal(), whole.substr(0, length));
    const auto file = create();
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(recalls(**file, 0), length >= 24 + 32) << length;
    EXPECT_FALSE(recalls(**file, 1)) << length;
    ASSERT_TRUE((*file)->write_at(0, part(0)).ok());  // so that it stays
    ASSERT_TRUE((*file)->write_at(kPart, part(1)).ok());
  }
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    test::write_file(journal(), damaged);
    const auto file = create();
    if (bit < 8 * 24) {
      ASSERT_EQ(file.status().code(), Code::kExists) << bit;
      continue;
    }
    ASSERT_TRUE(file.ok());
    const bool in_first = bit < 8 * (24 + 32);
    EXPECT_EQ(recalls(**file, 0), !in_first) << bit;
    EXPECT_EQ(recalls(**file, 1), in_first) << bit;
  }
}

TEST_F(JournaledOutputTest, IsOfOneKeyAndOneProcess) {
  write_parts(0, 1);
  const auto other = create("other");
  EXPECT_EQ(other.status().code(), Code::kExists);
  EXPECT_NE(other.status().text().find(".f.journal"), std::string::npos);
  const auto file = create();
  ASSERT_TRUE(file.ok()) << "the other one has left it";
  EXPECT_EQ(create().status().code(), Code::kBusy);
  EXPECT_TRUE(recalls(**file, 0));
}

TEST_F(JournaledOutputTest, NothingStaysOfNothingAndOfWhatIsPublished) {
  ASSERT_TRUE(create().ok());
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  write_parts(0, 1);
  {
    const auto file = create();
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->publish().ok());
  }
  EXPECT_TRUE(is_there("f"));
  EXPECT_FALSE(is_there(".f.part"));
  EXPECT_FALSE(is_there(".f.journal"));
  EXPECT_EQ(create().status().code(), Code::kExists);
}

// As if the process was killed after it had published the file.
TEST_F(JournaledOutputTest, WhatStaysOfAPublishedFileIsRemoved) {
  const fs::path hidden = folder_.path() / ".f.part";
  for (const bool has_both_names : {false, true}) {
    write_parts(0, 1);
    has_both_names ? fs::create_hard_link(hidden, path_) : fs::rename(hidden, path_);
    JournaledOutput::remove_published(path_);
    EXPECT_TRUE(is_there("f"));
    EXPECT_FALSE(is_there(".f.part")) << has_both_names;
    EXPECT_FALSE(is_there(".f.journal")) << has_both_names;
    fs::remove(path_);
  }
}

TEST_F(JournaledOutputTest, OnlyWhatIsPublishedIsRemoved) {
  write_parts(0, 1);
  JournaledOutput::remove_published(path_);
  EXPECT_TRUE(is_there(".f.part") && is_there(".f.journal"));
  test::write_file(path_, "an older output");
  JournaledOutput::remove_published(path_);
  EXPECT_TRUE(is_there(".f.part") && is_there(".f.journal"));
  fs::remove(folder_.path() / ".f.part");
  test::write_file(journal(), "a file of another program");
  JournaledOutput::remove_published(path_);
  EXPECT_TRUE(is_there(".f.journal"));
}

TEST_F(JournaledOutputTest, AJournalWithoutItsFileSaysNothing) {
  write_parts(0, 1);
  fs::remove(folder_.path() / ".f.part");
  const auto file = create();
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE(recalls(**file, 0));
}

TEST_F(JournaledOutputTest, OtherProcessesNoteInTheSameJournal) {
  {
    const auto file = create();
    ASSERT_TRUE(file.ok());
    const auto attached = attach_output(resumable_name(path_), path_, "key");
    ASSERT_TRUE(attached.ok());
    ASSERT_TRUE((*attached)->write_at(0, part(0)).ok());
    ASSERT_TRUE((*file)->write_at(kPart, part(1)).ok());
  }
  const auto file = create();
  ASSERT_TRUE(file.ok());
  const auto attached = attach_output(resumable_name(path_), path_, "key");
  ASSERT_TRUE(attached.ok());
  for (const OutputFile* one : {file->get(), attached->get()}) {
    EXPECT_TRUE(recalls(*one, 0));
    EXPECT_TRUE(recalls(*one, 1));
  }
}

}  // namespace
}  // namespace nmb
