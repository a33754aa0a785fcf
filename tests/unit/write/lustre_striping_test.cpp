// The rule for Lustre.
#include "ranks/lustre_striping.h"

#include <gtest/gtest.h>

namespace nmb {
namespace {

constexpr std::uint64_t kMebi = 1 << 20, kGB = 1'000'000'000;

TEST(LustreStriping, SizeFollowsTheData) {
  EXPECT_EQ(lustre_striping(0, 8, 8).size, kMebi);
  EXPECT_EQ(lustre_striping(kGB - 1, 8, 8).size, kMebi);
  EXPECT_EQ(lustre_striping(kGB, 8, 8).size, kMebi);
  EXPECT_EQ(lustre_striping(2 * kGB - 1, 8, 8).size, kMebi);
  EXPECT_EQ(lustre_striping(4 * kGB, 8, 8).size, 4 * kMebi);
  EXPECT_EQ(lustre_striping(16 * kGB, 8, 8).size, 16 * kMebi);
  EXPECT_EQ(lustre_striping(17 * kGB, 8, 8).size, 16 * kMebi);
  EXPECT_EQ(lustre_striping(~std::uint64_t{0}, 8, 8).size, 16 * kMebi);
}

TEST(LustreStriping, CountIsTheSmallerOfTargetsAndAggregators) {
  EXPECT_EQ(lustre_striping(kGB, 248, 8).count, 8);
  EXPECT_EQ(lustre_striping(kGB, 4, 8).count, 4);
  EXPECT_EQ(lustre_striping(kGB, 0, 8).count, 1);
  EXPECT_EQ(lustre_striping(kGB, 8, 0).count, 1);
}

TEST(LustreStriping, CommandForAShell) {
  EXPECT_EQ(lustre_command(lustre_striping(4 * kGB, 248, 8), "FOLDER"),
            "lfs setstripe -c 8 -S 4M FOLDER");
  EXPECT_EQ(lustre_command({1, kMebi}, "a folder/it's"),
            "lfs setstripe -c 1 -S 1M 'a folder/it'\\''s'");
  EXPECT_EQ(lustre_command({1, kMebi}, ""), "lfs setstripe -c 1 -S 1M ''");
}

}  // namespace
}  // namespace nmb
