// Regions of files that the tests of nminspect layout do not make (verify/layout.h).
#include "verify/layout.h"

#include <gtest/gtest.h>

#include "verify/region_list.h"

namespace nmb {
namespace {

using Of = RegionOwner::Of;

TEST(RegionList, SortsJoinsAndFillsGaps) {
  RegionList list;
  list.add({40, 8, RegionKind::kValues, {Of::kBlock, 2}});
  list.add({48, 8, RegionKind::kValues, {Of::kBlock, 2}});
  list.add({10, 0, RegionKind::kValues, {Of::kBlock, 1}});
  list.add({8, 8, RegionKind::kMetadata, {Of::kBlock, 1}});
  list.add({24, 8, RegionKind::kIndex, {}});
  list.add({16, 8, RegionKind::kIndex, {}});
  ASSERT_TRUE(list.is_complete());
  const std::vector<Region> regions = list.take(64);
  const std::vector<std::pair<std::uint64_t, RegionKind>> expected{
      {0, RegionKind::kUnused},  {8, RegionKind::kMetadata}, {16, RegionKind::kIndex},
      {32, RegionKind::kUnused}, {40, RegionKind::kValues},  {56, RegionKind::kUnused}};
  ASSERT_EQ(regions.size(), expected.size());
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    EXPECT_EQ(regions[i].position, at);
    EXPECT_EQ(regions[i].position, expected[i].first);
    EXPECT_EQ(regions[i].kind, expected[i].second);
    at = regions[i].end();
  }
  EXPECT_EQ(at, 64u);
}

TEST(RegionList, HasNoRegionsInAnEmptyFile) { EXPECT_TRUE(RegionList().take(0).empty()); }

}  // namespace
}  // namespace nmb
