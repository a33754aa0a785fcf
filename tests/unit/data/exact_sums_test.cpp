// Mean and standard deviation without rounding errors (values/statistics/exact_sums.h).
#include "values/statistics/exact_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace nmb {
namespace {

template <class Number>
ExactSums sums_of(const std::vector<Number>& numbers) {
  ExactSums sums;
  for (const Number n : numbers) sums.add(n);
  return sums;
}

TEST(ExactSums, SmallNumbers) {
  const auto moments = sums_of<double>({1, 2, 3, 4}).moments();
  ASSERT_TRUE(moments);
  EXPECT_EQ(moments->mean, 2.5);
  EXPECT_EQ(moments->deviation, std::sqrt(1.25));
}

TEST(ExactSums, OneNumberHasNoDeviation) {
  for (const double n : {0.1, -0.0, 5e-324, -1.7976931348623157e308}) {
    const auto moments = sums_of<double>({n, n, n}).moments();
    ASSERT_TRUE(moments);
    EXPECT_EQ(moments->mean, n);
    EXPECT_EQ(moments->deviation, 0);
  }
}

TEST(ExactSums, LargeNumbersDoNotHideSmallOnes) {
  const auto moments = sums_of<double>({1e308, 1, -1e308}).moments();
  ASSERT_TRUE(moments);
  EXPECT_EQ(moments->mean, 1.0 / 3);
  EXPECT_DOUBLE_EQ(moments->deviation, 1e308 * std::sqrt(2.0 / 3));
  // The sum has more than 2^1024, and the mean has not.
  const double most = std::numeric_limits<double>::max();
  const auto high = sums_of<double>({most, most, most, most}).moments();
  ASSERT_TRUE(high);
  EXPECT_EQ(high->mean, most);
}

TEST(ExactSums, Integers) {
  const auto low = sums_of<std::int64_t>(std::vector<std::int64_t>(5, INT64_MIN)).moments();
  ASSERT_TRUE(low);
  EXPECT_EQ(low->mean, -0x1p63);
  const auto high = sums_of<std::uint64_t>({UINT64_MAX, UINT64_MAX - 4}).moments();
  ASSERT_TRUE(high);
  EXPECT_EQ(high->mean, 0x1p64);
  EXPECT_EQ(high->deviation, 2);
}

TEST(ExactSums, NoNumbersAndInfinity) {
  EXPECT_FALSE(ExactSums().moments());
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(sums_of<double>({1, infinity}).moments());
  ExactSums sums = sums_of<double>({1});
  sums.add(sums_of<double>({-infinity}));
  EXPECT_FALSE(sums.moments());
}

TEST(ExactSums, DoNotDependOnOrderAndParts) {
  std::mt19937_64 random(7);
  std::vector<double> numbers;
  for (int i = 0; i < 2000; ++i) {
    const int exponent = static_cast<int>(random() % 600) - 300;
    numbers.push_back(std::ldexp(static_cast<double>(random() % 1000001) - 500000, exponent));
  }
  const auto expected = sums_of(numbers).moments();
  ASSERT_TRUE(expected);
  for (int round = 0; round < 5; ++round) {
    std::ranges::shuffle(numbers, random);
    std::vector<ExactSums> parts(1 + random() % 7);
    for (const double n : numbers) parts[random() % parts.size()].add(n);
    ExactSums all;
    for (const ExactSums& part : parts) all.add(part);
    EXPECT_EQ(all.moments(), expected);
  }
}

TEST(ExactSums, TimesIsRepeatedAddition) {
  const std::vector<double> numbers{0.1, -3e100, 7};
  ExactSums once, repeated;
  once.add(5.0);
  repeated.add(5.0);
  once.add_times(sums_of(numbers), 1001);
  for (int i = 0; i < 1001; ++i) repeated.add(sums_of(numbers));
  EXPECT_EQ(once.moments(), repeated.moments());
  EXPECT_TRUE(once.moments());
}

}  // namespace
}  // namespace nmb
