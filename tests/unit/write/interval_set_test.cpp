// Intervals against a table of bytes.
#include "ranks/interval_set.h"

#include <gtest/gtest.h>

#include <random>

namespace nmb {
namespace {

TEST(IntervalSet, IsWhatATableOfBytesIs) {
  constexpr std::uint64_t kLength = 60;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    IntervalSet set;
    std::vector<bool> table(kLength);
    for (int call = 0; call < 40; ++call) {
      const std::uint64_t begin = random() % kLength, end = random() % (kLength + 1);
      const bool add = random() % 3 != 0;
      add ? set.add(begin, end) : set.remove(begin, end);
      for (std::uint64_t i = begin; i < end; ++i) table[i] = add;

      const std::uint64_t from = random() % kLength, to = from + 1 + random() % (kLength - from);
      std::vector<bool> free(kLength);
      std::uint64_t last = 0;
      for (const Interval& gap : set.gaps(from, to)) {
        ASSERT_LT(gap.begin, gap.end);
        ASSERT_TRUE(gap.begin > last || gap.begin == from) << "gaps that touch";
        last = gap.end;
        for (std::uint64_t i = gap.begin; i < gap.end; ++i) free[i] = true;
      }
      bool touches = false;
      for (std::uint64_t i = 0; i < kLength; ++i) {
        const bool within = i >= from && i < to;
        ASSERT_EQ(free[i], within && !table[i]) << "seed " << seed << ", byte " << i;
        touches = touches || (within && table[i]);
      }
      ASSERT_EQ(set.touches(from, to), touches) << "seed " << seed;
    }
  }
}

// The time-out of the test fails it if each moves all behind it.
TEST(IntervalSet, MillionsMayComeInBetween) {
  constexpr std::uint64_t kCount = 500000;
  IntervalSet set;
  for (const std::uint64_t first : {6u, 2u})
    for (std::uint64_t i = 0; i < kCount; ++i) set.add(first + i * 8, first + i * 8 + 1);
  EXPECT_EQ(set.gaps(0, kCount * 8).size(), 2 * kCount + 1);
}

}  // namespace
}  // namespace nmb
