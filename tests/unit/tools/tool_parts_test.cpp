// Small parts of the tools: units, natural order, exit codes, lists of files, rows in order.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "common/command_line/exit_code.h"
#include "common/options/file_list.h"
#include "common/printing/diagnostics.h"
#include "common/printing/history_line.h"
#include "common/printing/output.h"
#include "common/printing/units.h"
#include "handles/input_file.h"
#include "nminspect/ordered_rows.h"
#include "support/programs.h"
#include "wire/natural_order.h"

namespace nmb::tools {
namespace {

TEST(History, HasAllWordsOfTheCommand) {
  const Json options{{"exclude", {"a", "b c"}}, {"monotonic", true}, {"where", "x == 'K'"}};
  const std::vector<std::string> inputs{"in/one.nc", "in/two.nc"};
  EXPECT_EQ(
      history_line("nmcat", options, inputs),
      "nmcat " NMB_VERSION
      " --exclude a --exclude 'b c' --monotonic --where \"x == 'K'\": 2 files: one.nc and two.nc");
}

TEST(History, ReturnsTheWordsOfTheOptions) {
  const std::string all = "a 'b' \"c\" \\ $d `e` * ~ \u00fc";
  for (const std::string& word :
       std::vector<std::string>{"t*", "my time", "it's", "x == 'K'", "'\"$`\\!", "", "a:", all}) {
    const std::string line =
        history_line("nmcat", {{"along", word}}, std::vector<std::string>{"f"});
    const std::vector<std::string> words = words_of(line);
    ASSERT_EQ(words.size(), 7u) << line;
    EXPECT_EQ(words[3], word + ":") << line;
    EXPECT_EQ(words[5], "file:");
  }
}

TEST(Units, ShowThreeOrFourDigits) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1024), "1.0 KiB");
  EXPECT_EQ(human_bytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(human_bytes(102446592), "97.7 MiB");
  EXPECT_EQ(human_bytes(~std::uint64_t{0}), "16.0 EiB");
  EXPECT_EQ(bytes_text(5000, true), "5000");
}

TEST(Units, ReadWhatPeopleWrite) {
  EXPECT_EQ(*parse_bytes("4096"), 4096u);
  EXPECT_EQ(*parse_bytes("64k"), 65536u);
  EXPECT_EQ(*parse_bytes("256M"), 256u << 20);
  EXPECT_EQ(*parse_bytes("1.5GiB"), 3u << 29);
  EXPECT_EQ(*parse_bytes("2 MB"), 2000000u);
  EXPECT_EQ(*parse_bytes("7B"), 7u);
  for (const std::string_view text :
       {"", "M", "-1", "1X", "1Mx", "nan", "inf", "1e3", "9E", "99999999999T"})
    EXPECT_EQ(parse_bytes(text).status().code(), Code::kUsage) << text;
}

TEST(NaturalOrder, ComparesDigitsAsNumbers) {
  const std::vector<std::string> sorted{"",      "f",   "f01",  "f1",   "f2",
                                        "f9.nc", "f10", "f10a", "f10b", "g"};
  std::vector<std::string> shuffled = sorted;
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    std::sort(shuffled.begin(), shuffled.end(), natural_less);
    EXPECT_EQ(shuffled, sorted);
  }
  EXPECT_TRUE(natural_less("r99999999999999999999", "r100000000000000000000"));
  EXPECT_FALSE(natural_less("a1", "a1"));
}

TEST(ExitCode, TellsFindingsFromFailures) {
  EXPECT_EQ(exit_of(Code::kOk), Exit::kDone);
  EXPECT_EQ(exit_of(Code::kDamaged), Exit::kFindings);
  EXPECT_EQ(exit_of(Code::kConflict), Exit::kFindings);
  EXPECT_EQ(exit_of(Code::kNoSpace), Exit::kCannotRun);
  EXPECT_EQ(worse(Exit::kFindings, Exit::kCannotRun), Exit::kCannotRun);
  EXPECT_EQ(worse(Exit::kFindings, Exit::kLoss), Exit::kFindings);
  EXPECT_EQ(worse(Exit::kDone, Exit::kLoss), Exit::kLoss);
}

TEST(FileList, SplitsAtLinesOrNuls) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "list";
  test::write_file(path, "a b\n\nc\nlast");
  EXPECT_EQ(*read_file_list(path, false), (std::vector<std::string>{"a b", "c", "last"}));
  test::write_file(path, std::string_view("a\nb\0c\0", 6));
  EXPECT_EQ(*read_file_list(path, true), (std::vector<std::string>{"a\nb", "c"}));
  EXPECT_EQ(read_file_list(path + "x", true).status().code(), Code::kNotFound);
  EXPECT_EQ(read_file_list(folder.path(), true).status().code(), Code::kIo);
}

TEST(OrderedRows, KeepsTheBest) {
  std::mt19937 random(3);
  for (const std::uint64_t limit : {0u, 1u, 7u, 100u, 200u}) {
    std::vector<unsigned> rows(100), expected, found;
    for (unsigned& row : rows) row = static_cast<unsigned>(random());
    expected = rows;
    std::sort(expected.begin(), expected.end());
    expected.resize(std::min<std::size_t>(limit, expected.size()));
    OrderedRows<unsigned> ordered(std::less<unsigned>(), limit, [&](unsigned row) {
      found.push_back(row);
      return Status();
    });
    for (const unsigned row : rows) EXPECT_EQ(*ordered.add(row), limit > 0);
    EXPECT_TRUE(ordered.finish().ok());
    EXPECT_EQ(found, expected);
  }
}

TEST(OrderedRows, StopsAtTheLimitWithoutOrder) {
  std::vector<int> found;
  OrderedRows<int> rows({}, 2, [&](int row) {
    found.push_back(row);
    return Status();
  });
  EXPECT_TRUE(*rows.add(3));
  EXPECT_FALSE(*rows.add(1));
  EXPECT_TRUE(rows.finish().ok());
  EXPECT_EQ(found, (std::vector<int>{3, 1}));
}

TEST(InputFile, ReadsItsHeadOnce) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "file";
  test::write_file(path, "CDF\x05" + std::string(40000, 'x'));
  const auto file = *InputFile::open(path);
  EXPECT_EQ(file->kind(), FileKind::kCdf5);
  std::vector<std::byte> bytes(16384);
  ASSERT_TRUE(file->read_at(0, bytes).ok());
  ASSERT_TRUE(file->read_at(100, std::span(bytes).first(1000)).ok());
  EXPECT_EQ(bytes[0], std::byte{'x'});
  EXPECT_EQ(file->counts().reads, 1u);
  EXPECT_EQ(file->counts().bytes, 16384u);
  ASSERT_TRUE(file->read_at(100, bytes).ok());
  EXPECT_EQ(file->counts().reads, 2u);
  EXPECT_EQ(file->read_at(39000, bytes).code(), Code::kDamaged);
}

TEST(Output, SticksToItsFirstFailure) {
  Output out(::open("/dev/full", O_WRONLY));
  EXPECT_TRUE(out.write("held back").ok());
  EXPECT_EQ(out.flush().code(), Code::kNoSpace);
  const Status status = out.write("more");
  EXPECT_TRUE(out.is_failure(status));
  EXPECT_FALSE(out.is_failure(Status(Code::kNoSpace, "other")));
  EXPECT_FALSE(out.pipe_closed());
  EXPECT_EQ(out.close().code(), Code::kNoSpace);
}

TEST(Diagnostics, ShowTheFirstWarningsAndSayHowManyMoreThereAre) {
  Diagnostics diagnostics("tool");
  testing::internal::CaptureStderr();
  for (int i = 0; i < 250; ++i) diagnostics.warning("a.nc", "found " + std::to_string(i));
  diagnostics.warning("a.nc", "a newer generation may be missing (R-SB-13)");
  diagnostics.finish();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 102);
  EXPECT_NE(text.find("found 99\n"), text.npos);
  EXPECT_EQ(text.find("found 100\n"), text.npos);
  EXPECT_NE(text.find("missing (R-SB-13)\ntool: 151 more warnings are not shown\n"), text.npos);
}

TEST(Output, KnowsAReaderThatWentAway) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  Output out(ends[1]);
  EXPECT_FALSE(out.write(std::string(1 << 20, 'x')).ok());
  EXPECT_TRUE(out.pipe_closed());
}

}  // namespace
}  // namespace nmb::tools
