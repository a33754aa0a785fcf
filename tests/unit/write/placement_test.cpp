// Placement against allocations made one after the other.
#include "origins/placement.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace nmb {
namespace {

TEST(Placement, IsWhatAllocationsDo) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    struct Allocation {
      std::uint64_t length, alignment;
    };
    std::vector<Allocation> allocations(random() % 12);
    for (Allocation& a : allocations)
      a = {random() % 10000, std::uint64_t{1} << std::array{3, 3, 12, 14, 16}[random() % 5]};
    const std::uint64_t start = random() % 20000 * 8;
    std::uint64_t cursor = start;
    for (const Allocation& a : allocations)
      cursor = round_up(round_up(cursor, a.alignment) + a.length, 8);
    // Cut in three, joined in either order.
    const std::size_t first = random() % (allocations.size() + 1);
    const std::size_t second = first + random() % (allocations.size() - first + 1);
    Placement parts[3];
    for (std::size_t i = 0; i < allocations.size(); ++i) {
      Placement& part = parts[(i >= first) + (i >= second)];
      part = part.then(Placement::of(allocations[i].length, allocations[i].alignment));
    }
    EXPECT_EQ(parts[0].then(parts[1]).then(parts[2]).end(start), cursor);
    EXPECT_EQ(parts[0].then(parts[1].then(parts[2])).end(start), cursor);
    EXPECT_EQ(parts[2].end(parts[1].end(parts[0].end(start))), cursor);
  }
}

TEST(Placement, StaysPastTheLimit) {
  Placement all;
  for (int i = 0; i < 100; ++i) {
    all = all.then(Placement::of(std::uint64_t{1} << 62, i % 2 == 0 ? 4096 : 8));
    EXPECT_GE(all.end(24576), Placement::kLimit);
  }
  EXPECT_GE(Placement::of(~std::uint64_t{0}, 4096).end(8), Placement::kLimit);
}

}  // namespace
}  // namespace nmb
