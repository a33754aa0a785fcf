// Status and Result (nmb/status.h).
#include <gtest/gtest.h>

#include "parallel/message_fields.h"
#include "wire/failure.h"

namespace nmb {
namespace {

Result<int> number(bool is_there) {
  if (is_there) return 7;
  return Status(Code::kNotFound, "no number");
}

Result<int> sum(bool first, bool second) {
  // clang-format off
  NMB_ASSIGN(const int a, number(first)); NMB_ASSIGN(const int b, number(second));
  // clang-format on
  return a + b;
}

Result<int> sum_or_first(bool second_counts, bool second) {
  int a = 7;
  if (second_counts) NMB_ASSIGN(a, sum(true, second));
  return a;
}

TEST(StatusTest, AValueMayBeBoundAfterIf) {
  EXPECT_EQ(*sum_or_first(false, false), 7);
  EXPECT_EQ(*sum_or_first(true, true), 14);
  EXPECT_EQ(sum_or_first(true, false).status().code(), Code::kNotFound);
}

TEST(StatusTest, TwoValuesMayBeBoundOnOneLine) {
  EXPECT_EQ(*sum(true, true), 14);
  EXPECT_EQ(sum(true, false).status().code(), Code::kNotFound);
  EXPECT_EQ(sum(false, true).status().message(), "no number");
}

TEST(StatusTest, EachCodeHasAName) {
  EXPECT_EQ(code_name(Code::kOk), "ok");
  EXPECT_EQ(code_name(Code::kUsage), "usage");
  EXPECT_EQ(code_name(Code::kNotFound), "not_found");
  EXPECT_EQ(code_name(Code::kExists), "exists");
  EXPECT_EQ(code_name(Code::kConflict), "conflict");
  EXPECT_EQ(code_name(Code::kDamaged), "damaged");
  EXPECT_EQ(code_name(Code::kUnsupported), "unsupported");
  EXPECT_EQ(code_name(Code::kUnknownKind), "unknown_kind");
  EXPECT_EQ(code_name(Code::kIo), "io");
  EXPECT_EQ(code_name(Code::kNoSpace), "no_space");
  EXPECT_EQ(code_name(Code::kRange), "range");
  EXPECT_EQ(code_name(Code::kLimit), "limit");
  EXPECT_EQ(code_name(Code::kBusy), "busy");
}

TEST(StatusTest, TheObjectStandsAheadOfTheMessage) {
  const Status status(Code::kDamaged, "a.nmb", 12, "R-CH-4", "found 1, expected 2");
  EXPECT_EQ(status.of_object("variable t").text(),
            "a.nmb: at 12: variable t: found 1, expected 2 (R-CH-4)");
  EXPECT_TRUE(Status().of_object("variable t").ok());
}

TEST(StatusTest, ACopyIsToldFromTheSameWords) {
  const Status status(Code::kIo, "cannot write"), copy = status;
  EXPECT_TRUE(copy.is_copy_of(status));
  EXPECT_FALSE(Status(Code::kIo, "cannot write").is_copy_of(status));
  EXPECT_FALSE(Status().is_copy_of(Status()));
}

TEST(StatusTest, TheFirstRankStays) {
  const Status status = Status(Code::kDamaged, "a.nmb", 12, "R-CH-4", "found 1").on_rank(2);
  EXPECT_EQ(status.text(), "a.nmb: at 12: found 1 (on rank 2) (R-CH-4)");
  EXPECT_EQ(status.rank(), 2);
  // Agreed again on another rank, after what callers add, and after a message between ranks.
  Status again;
  ASSERT_TRUE(
      take_fields(bytes_of_fields(status.at("b.nmb", 3).of_object("block x")), &again).ok());
  EXPECT_EQ(again.on_rank(0).text(), "b.nmb: at 3: block x: found 1 (on rank 2) (R-CH-4)");
  EXPECT_EQ(Status(Code::kIo, "cannot write").rank(), kNoRank);
  EXPECT_TRUE(Status().on_rank(1).ok());
}

}  // namespace
}  // namespace nmb
