// Which values differ, and by how much (compare/compare.h).
#include "compare/different_values.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "wire/endian.h"

namespace nmb {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<std::byte> external(const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * 8);
  for (std::size_t i = 0; i < values.size(); ++i)
    store_be(bytes.data() + i * 8, std::bit_cast<std::uint64_t>(values[i]));
  return bytes;
}

ComparedVariable compared(const ValueRule& rule, const std::vector<double>& first,
                          const std::vector<double>& second) {
  DifferentValues found(rule, 3);
  found.compare(0, external(first), external(second), 8);
  ComparedVariable variable;
  found.store({first.size()}, &variable);
  return variable;
}

ValueRule doubles(Tolerance tolerance = {}) {
  return {Type::kDouble, TextForm::kNone, tolerance, {}, {}};
}

TEST(DifferentValues, ZerosOfBothSignsDiffer) {
  const ComparedVariable found = compared(doubles(), {0.0, 1.0}, {-0.0, 1.0});
  EXPECT_EQ(found.different, 1U);
  EXPECT_EQ(found.largest_difference, 0.0);
  EXPECT_EQ(found.first.at(0).first, "0");
  EXPECT_EQ(found.first.at(0).second, "-0");
  EXPECT_EQ(compared(doubles({1e-300, 0}), {0.0}, {-0.0}).different, 0U);
}

TEST(DifferentValues, NanDiffersFromNumbersOnly) {
  const ComparedVariable found =
      compared(doubles({1, 1}), {kNan, kNan, 2, 5}, {kNan, 1, kNan, 5.5});
  EXPECT_EQ(found.different, 2U);
  EXPECT_EQ(found.nans, 2U);
  EXPECT_FALSE(found.largest);
}

TEST(DifferentValues, ToleranceIsRelativeToTheSecondValue) {
  const Tolerance tolerance{0.5, 0.1};
  EXPECT_EQ(compared(doubles(tolerance), {11.5}, {10}).different, 0U);
  EXPECT_EQ(compared(doubles(tolerance), {10}, {11.7}).different, 1U);
  EXPECT_EQ(compared(doubles(tolerance), {11.6}, {10}).different, 1U);
  EXPECT_EQ(compared(doubles(tolerance), {kInfinity}, {1e308}).different, 1U);
  EXPECT_EQ(compared(doubles(tolerance), {1}, {kInfinity}).different, 1U);
}

TEST(DifferentValues, TheLargestDifferenceIsTheFirstOfEqualOnes) {
  const ComparedVariable found = compared(doubles(), {1, 1, 1, 1}, {2, 3, 0, -1});
  EXPECT_EQ(found.different, 4U);
  EXPECT_EQ(found.first.size(), 3U);
  EXPECT_EQ(found.largest_difference, 2.0);
  EXPECT_EQ(found.largest->index, std::vector<std::uint64_t>{1});
}

TEST(DifferentValues, FillValuesAreEqualWhateverTheyAre) {
  ValueRule rule = doubles({1e9, 0});
  rule.first_fill = external({-9});
  rule.second_fill = external({-99});
  const ComparedVariable found = compared(rule, {-9, -9, 1}, {-99, -9, -99});
  EXPECT_EQ(found.different, 1U);
  EXPECT_EQ(found.missing, 1U);
  EXPECT_EQ(found.first.at(0).index, std::vector<std::uint64_t>{2});
}

TEST(DifferentValues, DifferencesOf64BitIntegersAreExact) {
  const ValueRule rule{Type::kInt64, TextForm::kNone, {1, 0}, {}, {}};
  std::vector<std::byte> first(8), second(8);
  store_be<std::uint64_t>(first.data(), 0x7FFFFFFFFFFFFFFD);
  store_be<std::uint64_t>(second.data(), 0x7FFFFFFFFFFFFFFE);
  DifferentValues within(rule, 3);
  within.compare(0, first, second, 8);
  EXPECT_FALSE(within.any());
  store_be<std::uint64_t>(second.data(), 0x7FFFFFFFFFFFFFFF);
  DifferentValues beyond(rule, 3);
  beyond.compare(0, first, second, 8);
  EXPECT_TRUE(beyond.any());
}

// Parts of a variable give the same result in any order.
TEST(DifferentValues, PartsAreMerged) {
  const ValueRule rule = doubles();
  std::vector<double> first(3000), second(3000);
  for (std::size_t i = 7; i < second.size(); i += 500) second[i] = static_cast<double>(i % 1500);
  DifferentValues whole(rule, 3);
  whole.compare(0, external(first), external(second), 8);
  DifferentValues merged(rule, 3);
  for (const std::size_t part : {2U, 0U, 1U}) {
    const auto at = static_cast<std::ptrdiff_t>(part * 1000);
    DifferentValues found(rule, 3);
    found.compare(part * 1000, external({first.begin() + at, first.begin() + at + 1000}),
                  external({second.begin() + at, second.begin() + at + 1000}), 8);
    merged.merge(std::move(found));
  }
  ComparedVariable a, b;
  whole.store({30, 100}, &a);
  merged.store({30, 100}, &b);
  EXPECT_EQ(a.different, 6U);
  EXPECT_EQ(a.different, b.different);
  ASSERT_EQ(a.first.size(), b.first.size());
  for (std::size_t i = 0; i < a.first.size(); ++i) EXPECT_EQ(a.first[i].index, b.first[i].index);
  EXPECT_EQ(a.largest->index, b.largest->index);
  EXPECT_EQ(a.largest->index, (std::vector<std::uint64_t>{10, 7}));
}

TEST(Tolerance, IsParsed) {
  EXPECT_EQ(Tolerance::parse("1e-6").absolute, 1e-6);
  EXPECT_EQ(Tolerance::parse("0,0.5").relative, 0.5);
  for (const char* wrong : {"", "x", "1,", ",1", "-1", "nan", "inf", "1,2,3", "1 "})
    EXPECT_EQ(Tolerance::try_parse(wrong).status().code(), Code::kUsage) << wrong;
}

}  // namespace
}  // namespace nmb
