// Hyperslabs as users write them.
#include "common/options/slab.h"

#include <gtest/gtest.h>

namespace nmb::tools {
namespace {

using Numbers = std::vector<std::uint64_t>;

void expect_slab(std::string_view text, const Numbers& lengths, const Numbers& start,
                 const Numbers& count, const Numbers& stride) {
  const Result<Hyperslab> slab = parse_slab(text, lengths);
  ASSERT_TRUE(slab.ok()) << text << ": " << slab.status().text();
  EXPECT_EQ(slab->start, start) << text;
  EXPECT_EQ(slab->count, count) << text;
  EXPECT_EQ(slab->stride, stride) << text;
}

TEST(Slab, LeavesPartsOut) {
  expect_slab("", {}, {}, {}, {});
  expect_slab("1:2:3", {10}, {1}, {2}, {3});
  expect_slab(":", {10}, {0}, {10}, {1});
  expect_slab("::", {10}, {0}, {10}, {1});
  expect_slab("::3", {10}, {0}, {4}, {3});
  expect_slab("9::3", {10}, {9}, {1}, {3});
  expect_slab("4", {10}, {4}, {1}, {1});
  expect_slab("4:", {10}, {4}, {6}, {1});
  expect_slab("10:", {10}, {10}, {0}, {1});
  expect_slab(":0", {10}, {0}, {0}, {1});
  expect_slab("1,:2,::2", {3, 4, 5}, {1, 0, 0}, {1, 2, 3}, {1, 1, 2});
  expect_slab("::18446744073709551615", {10}, {0}, {1}, {~std::uint64_t{0}});
  expect_slab(",", {2, 3}, {0, 0}, {2, 3}, {1, 1});
}

TEST(Slab, RefusesWhatDoesNotFit) {
  const Numbers ten{10};
  for (const std::string_view text : {"11", "10", "0:11", "1:10", "0:1:0", "a", "1:2:3:4", "-1",
                                      "1,2", " 1", "0:5:3", "18446744073709551616", "+1", "1.0"}) {
    const Result<Hyperslab> slab = parse_slab(text, ten);
    ASSERT_FALSE(slab.ok()) << text;
    EXPECT_EQ(slab.status().code(), Code::kUsage) << text;
  }
  EXPECT_FALSE(parse_slab("", ten).ok());
  EXPECT_FALSE(parse_slab("0", Numbers{}).ok());
}

void expect_one(std::string_view text, std::uint64_t start, std::optional<std::uint64_t> count,
                std::uint64_t stride) {
  const Result<SlabOfDimension> slab = parse_slab(text);
  ASSERT_TRUE(slab.ok()) << text << ": " << slab.status().text();
  EXPECT_EQ(slab->start, start) << text;
  EXPECT_EQ(slab->count, count) << text;
  EXPECT_EQ(slab->stride, stride) << text;
}

TEST(Slab, OfOneDimension) {
  expect_one("3", 3, 1, 1);
  expect_one("3:", 3, std::nullopt, 1);
  expect_one(":7:2", 0, 7, 2);
  expect_one("", 0, std::nullopt, 1);
  EXPECT_FALSE(parse_slab("1:2:0").ok());
  EXPECT_FALSE(parse_slab("1:2:3:4").ok());
}

}  // namespace
}  // namespace nmb::tools
