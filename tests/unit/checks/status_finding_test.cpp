#include "verify/status_finding.h"

#include <gtest/gtest.h>

namespace nmb {
namespace {

std::string text_of(const std::string& message) {
  return finding_of(Status(Code::kDamaged, {}, kNoOffset, "R-X", message)).text();
}

TEST(StatusFinding, TakesAMessageOfADecoderApart) {
  const Finding finding =
      finding_of(Status(Code::kDamaged, {}, 8, "R-X", "variable \"v\": found 3, expected 4"));
  EXPECT_EQ(finding.object, "variable \"v\"");
  EXPECT_EQ(finding.found, "3");
  EXPECT_EQ(finding.expected, "4");
  EXPECT_EQ(finding.text(), "at 8: variable \"v\": found 3, expected 4 (R-X)");
}

TEST(StatusFinding, KeepsAStatement) {
  const Finding finding =
      finding_of(Status(Code::kDamaged, {}, kNoOffset, "R-X", "data set /d: too many chunks"));
  EXPECT_EQ(finding.object, "data set /d");
  EXPECT_EQ(finding.found, "too many chunks");
  EXPECT_EQ(finding.text(), "data set /d: too many chunks (R-X)");
  EXPECT_EQ(text_of("too many chunks"), "too many chunks (R-X)");
  EXPECT_EQ(finding.status("f").message(), "data set /d: too many chunks");
}

}  // namespace
}  // namespace nmb
