// Every vector of the specification: the rule that it breaks is found where it is broken, and valid
// ones have no findings; readers refuse damaged ones or read them, no more.
#include <gtest/gtest.h>

#include <map>

#include "files/files.h"
#include "model/values.h"
#include "reader/file_reader.h"
#include "support/corpus.h"
#include "support/vectors.h"
#include "verify/verify.h"

namespace nmb {
namespace {

using Sort = test::VectorExpectation::Sort;

TEST(VerifyVectors, EachBreaksItsRule) {
  NMB_NEEDS_VECTORS();
  std::size_t count = 0;
  for (const auto& expected : test::vector_expectations()) {
    SCOPED_TRACE(expected.name);
    const auto file = FileSource::open(expected.file.string());
    ASSERT_TRUE(file.ok()) << file.status().text();
    test::FindingList findings;
    const auto summary = verify(**file, {}, findings);
    ASSERT_TRUE(summary.ok()) << summary.status().text();
    ++count;
    if (expected.sort == Sort::kUnsupported) {
      EXPECT_EQ(summary->incomplete.code(), Code::kUnsupported) << summary->incomplete.text();
      EXPECT_EQ(summary->incomplete.rule(), expected.rule);
      EXPECT_EQ(summary->incomplete.offset(), expected.offset);
      EXPECT_TRUE(findings.has(Severity::kUnsupported, expected.rule, expected.offset))
          << findings.text();
      EXPECT_EQ(summary->findings, 0u) << findings.text();
      continue;
    }
    if (!findings.has(Severity::kUnsupported)) {
      EXPECT_TRUE(summary->incomplete.ok()) << summary->incomplete.text();
    }
    if (expected.sort == Sort::kInvalid) {
      EXPECT_TRUE(findings.has(Severity::kFinding, expected.rule, expected.offset))
          << "expected " << expected.rule << " at " << expected.offset << ", found\n"
          << findings.text();
      continue;
    }
    // Valid, except for rules that only readers of values check.
    if (expected.name.starts_with("R-XC-")) {
      ASSERT_EQ(findings.list.size(), 1u) << findings.text();
      EXPECT_EQ(findings.list.front().rule, expected.name.substr(0, 6));
      EXPECT_EQ(summary->damaged_blocks, 1u);
      continue;
    }
    // A remark on padding is a finding in a classic file.
    if (expected.rule != "R-CH-6") {
      EXPECT_FALSE(findings.has(Severity::kFinding)) << findings.text();
    }
    if (expected.sort == Sort::kRemark) {
      const auto severity = expected.rule == "R-CH-6" ? Severity::kFinding : Severity::kWarning;
      EXPECT_TRUE(findings.has(severity, expected.rule, expected.offset)) << findings.text();
    } else {
      EXPECT_EQ(summary->damaged_blocks, 0u);
      EXPECT_EQ(summary->sound_blocks, summary->recorded_blocks);
    }
  }
  EXPECT_GT(count, 200u);
}

TEST(VerifyVectors, LevelsAndThreadsFindNoMoreThanAll) {
  NMB_NEEDS_VECTORS();
  std::string last;
  for (const auto& expected : test::vector_expectations()) {
    if (expected.name == last) continue;
    last = expected.name;
    SCOPED_TRACE(expected.name);
    const auto file = FileSource::open(expected.file.string());
    ASSERT_TRUE(file.ok()) << file.status().text();
    std::map<int, std::string> texts;
    std::map<int, VerifySummary> summaries;
    for (int level = 0; level < 3; ++level) {
      test::FindingList findings;
      VerifierOptions options;
      options.level = static_cast<VerifyLevel>(level);
      const auto summary = verify(**file, options, findings);
      ASSERT_TRUE(summary.ok());
      texts[level] = findings.text();
      summaries[level] = *summary;
    }
    EXPECT_LE(summaries[0].bytes_read, summaries[1].bytes_read);
    EXPECT_LE(summaries[1].bytes_read, summaries[2].bytes_read);
    EXPECT_GE(summaries[1].sound_blocks, summaries[2].sound_blocks);
    if (expected.sort == Sort::kValid) {
      EXPECT_EQ(summaries[0].findings, 0u) << texts[0];
    }

    test::FindingList findings;
    VerifierOptions options;
    options.threads = 3;
    const auto summary = verify(**file, options, findings);
    ASSERT_TRUE(summary.ok());
    EXPECT_EQ(findings.text(), texts[2]);
  }
}

// Opens and loads what can be loaded; a status is as good as a result.
void read_all(const std::filesystem::path& path) {
  const auto reader = FileReader::open(path.string());
  if (!reader.ok()) return;
  (void)(*reader)->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    const auto block = (*reader)->block(entry);
    if (!block.ok()) return true;
    std::vector<std::byte> values(std::min<std::uint64_t>((*block)->extent->size(), 1 << 22));
    (void)(*block)->extent->read_at(0, values);
    return true;
  });
  (void)(*reader)->find("a/b");
  (void)(*reader)->totals_of_subtree("a");
  (void)(*reader)->global_id("b");
}

TEST(VerifyVectors, ReadersSurviveThem) {
  NMB_NEEDS_VECTORS();
  for (const auto& expected : test::vector_expectations()) {
    SCOPED_TRACE(expected.name);
    read_all(expected.file);
  }
}

// A later version's file is not called damaged.
TEST(VerifyVectors, ReadersRefuseUnsupportedOnes) {
  NMB_NEEDS_VECTORS();
  for (const auto& expected : test::vector_expectations()) {
    // External files are refused where they are read, and so are single blocks; what is refused of
    // files of the future is in a table (future_test.cpp).
    if (expected.sort != Sort::kUnsupported || expected.rule == "R-FT-4" ||
        expected.rule == "R-IX-10" || expected.name.starts_with("future_"))
      continue;
    SCOPED_TRACE(expected.name);
    const auto reader = FileReader::open(expected.file.string());
    const Status status =
        reader.ok()
            ? (*reader)->for_each_entry("", [](const BlockEntry&) -> Result<bool> { return true; })
            : reader.status();
    EXPECT_EQ(status.code(), Code::kUnsupported) << status.text();
    EXPECT_EQ(status.rule(), expected.rule);
    EXPECT_EQ(status.offset(), expected.offset);
  }
}

TEST(VerifyVectors, ReadersRefuseExternalFilesWhereTheyAreRead) {
  NMB_NEEDS_VECTORS();
  std::size_t count = 0;
  for (const auto& expected : test::vector_expectations()) {
    if (expected.sort != Sort::kUnsupported || expected.rule != "R-FT-4") continue;
    SCOPED_TRACE(expected.name);
    const auto reader = FileReader::open(expected.file.string());
    ASSERT_TRUE(reader.ok()) << reader.status().text();
    const auto block = (*reader)->block("a");
    ASSERT_TRUE(block.ok()) << block.status().text();
    std::vector<std::byte> values((*block)->extent->size());
    const Status status = (*block)->extent->read_at(0, values);
    EXPECT_EQ(status.code(), Code::kUnsupported) << status.text();
    EXPECT_EQ(status.rule(), "R-FT-4");
    ++count;
  }
  EXPECT_GE(count, 3u);
}

// Blocks that are sound for the verifier can be read.
TEST(VerifyVectors, ReadersReadValidOnes) {
  NMB_NEEDS_VECTORS();
  for (const auto& expected : test::vector_expectations()) {
    if (expected.sort != Sort::kValid || expected.file.extension() != ".nmb") continue;
    SCOPED_TRACE(expected.name);
    const auto reader = FileReader::open(expected.file.string());
    ASSERT_TRUE(reader.ok()) << reader.status().text();
    std::uint64_t blocks = 0;
    const Status status =
        (*reader)->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
          NMB_ASSIGN(const auto block, (*reader)->block(entry));
          std::vector<std::byte> values(block->extent->size());
          NMB_TRY(block->extent->read_at(0, values));
          ++blocks;
          return true;
        });
    EXPECT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(blocks, (*reader)->totals().blocks);
  }
}

}  // namespace
}  // namespace nmb
