// How many samples a block counts for.
#include "merge/reading/sample_counts.h"

#include <gtest/gtest.h>

#include "wire/kinds.h"

namespace nmb {
namespace {

Metadata block(std::uint32_t variables) {
  Metadata out;
  EXPECT_TRUE(out.def_dim("time", kUnlimited).ok());
  EXPECT_TRUE(out.def_dim("event", 7).ok());
  for (std::uint32_t v = 0; v < variables; ++v)
    EXPECT_TRUE(out.def_var("v" + std::to_string(v), Type::kInt, {}).ok());
  return out;
}

// -1: refused.
std::int64_t samples(std::string_view rule, const Metadata& metadata, std::string_view group = "") {
  Result<SampleRule> parsed = SampleRule::try_parse(rule);
  if (!parsed.ok()) return -1;
  Result<std::uint64_t> count = count_samples(*parsed, counts_of(*parsed, metadata, 9), group);
  return count.ok() ? static_cast<std::int64_t>(*count) : -1;
}

TEST(SampleRule, DefaultCountsBlocksWithVariables) {
  EXPECT_EQ(samples("", block(0)), 0);
  EXPECT_EQ(samples("", block(5)), 1);
}

TEST(SampleRule, VariablesLeaveNoRemainder) {
  EXPECT_EQ(samples("vars:3", block(6)), 2);
  EXPECT_EQ(samples("vars:3", block(0)), 0);
  EXPECT_EQ(samples("vars:4", block(6)), -1);
}

TEST(SampleRule, DimensionThatIsAbsentCountsNothing) {
  EXPECT_EQ(samples("dim:event", block(1)), 7);
  EXPECT_EQ(samples("dim:time", block(1)), 9) << "the records";
  EXPECT_EQ(samples("dim:x", block(1)), 0);
}

TEST(SampleRule, GroupCountsDirectChildrenWithVariables) {
  EXPECT_EQ(samples("group", block(1), "g"), 1);
  EXPECT_EQ(samples("group", block(0), "g"), 0);
  EXPECT_EQ(samples("group", block(1), "g/h"), 0);
  EXPECT_EQ(samples("group", block(1), ""), 0);
}

TEST(SampleRule, NoneCountsNothing) { EXPECT_EQ(samples("none", block(3)), 0); }

TEST(SampleRule, OtherWordsAreRefused) {
  for (const char* rule : {"vars:", "vars:0", "vars:-1", "vars:2x", "vars: 2", "dim:", "dims:x",
                           "None", "vars:99999999999999999999"})
    EXPECT_EQ(SampleRule::try_parse(rule).status().code(), Code::kUsage) << rule;
}

}  // namespace
}  // namespace nmb
