// Reports that are journals.
#include "common/printing/report_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <vector>

#include "support/programs.h"

namespace nmb::tools {
namespace {

constexpr const char* kFirst = "{\"schema\":\"nmb/x/1\",\"n\":1}";
constexpr const char* kSecond = "{\"schema\":\"nmb/x/1\",\"n\":2}";

class ReportFileTest : public ::testing::Test {
 protected:
  void put(const std::string& text) const { test::write_file(path_, text); }
  std::string text() const {
    std::ostringstream out;
    out << std::ifstream(path_, std::ios::binary).rdbuf();
    return out.str();
  }
  Result<std::unique_ptr<ReportFile>> open() const { return ReportFile::open(path_, "nmb/x/1"); }
  static std::vector<std::string> lines(const ReportFile& file) {
    std::vector<std::string> out;
    EXPECT_TRUE(file.for_each_line([&](std::string_view line) { out.emplace_back(line); }).ok());
    return out;
  }

  const test::TemporaryFolder folder_;
  const std::string path_ = folder_.path() / "report";
};

TEST_F(ReportFileTest, GoesOnWithWhatThereIs) {
  {
    auto file = open();
    ASSERT_TRUE(file.ok());
    EXPECT_TRUE(lines(**file).empty());
    EXPECT_TRUE((*file)->append(kFirst).ok());
    EXPECT_EQ(open().status().code(), Code::kBusy);
  }
  auto file = open();
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE((*file)->append(kSecond).ok());
  EXPECT_EQ(lines(**file), (std::vector<std::string>{kFirst, kSecond}));
}

TEST_F(ReportFileTest, DropsALineThatWasCutAnywhere) {
  const std::string whole = std::string(kFirst) + "\n";
  for (const std::string& kept : {std::string(), whole, whole + whole}) {
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
      put(kept + whole.substr(0, cut));
      auto file = open();
      ASSERT_TRUE(file.ok()) << cut;
      EXPECT_EQ(text(), kept);
      EXPECT_TRUE((*file)->append(kSecond).ok());
      EXPECT_EQ(text(), kept + kSecond + "\n");
    }
  }
  // Longer than the bytes that are read at a time.
  put(whole + whole.substr(0, 5) + std::string(200000, 'x'));
  ASSERT_TRUE(open().ok());
  EXPECT_EQ(text(), whole);
}

TEST_F(ReportFileTest, LeavesOtherFilesAlone) {
  for (const std::string other : {"names\n", "names", "\n", "{\"schema\":\"nmb/x/12\"}\n"}) {
    put(other);
    EXPECT_EQ(open().status().code(), Code::kUsage) << other;
    EXPECT_EQ(text(), other);
  }
}

TEST_F(ReportFileTest, LeavesOutLinesWithoutEnd) {
  const std::string line = std::string(kFirst) + "\n";
  put(line + std::string(ReportFile::kLongestLine + 1, 'x') + "\n" +
      std::string(ReportFile::kLongestLine, 'y') + "\n" + line);
  auto file = open();
  ASSERT_TRUE(file.ok());
  const std::vector<std::string> found = lines(**file);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1], std::string(ReportFile::kLongestLine, 'y'));
  EXPECT_EQ(found[2], kFirst);
}

TEST_F(ReportFileTest, KeepsNothingOfALineThatDoesNotFit) {
  auto file = open();
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->append(kFirst).ok());
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{40, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = (*file)->append(kSecond);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(status.code(), Code::kNoSpace);
  EXPECT_EQ(text(), std::string(kFirst) + "\n");
  EXPECT_TRUE((*file)->append(kSecond).ok());
  EXPECT_EQ(lines(**file), (std::vector<std::string>{kFirst, kSecond}));
}

}  // namespace
}  // namespace nmb::tools
