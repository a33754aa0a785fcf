// The fuzzer's repair of sums leaves sound files as they are, and mends what was changed.
#include "support/right_sums.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "support/vectors.h"
#include "verify/verify.h"

namespace nmb {
namespace {

TEST(RightSums, SoundFilesStay) {
  NMB_NEEDS_VECTORS();
  for (const char* name :
       {"growth_two_pages", "originals", "coded_pieces", "dead_space", "hole_in_a_data_map",
        "sections", "zstd_dictionary", "many_pieces", "several_leaves", "tree_of_height_3"}) {
    const auto bytes = test::read_file(test::vectors() / (std::string(name) + ".nmb"));
    auto right = bytes;
    test::make_sums_right(right);
    EXPECT_EQ(right, bytes) << name;
  }
}

TEST(RightSums, ChangedValuesBecomeSound) {
  NMB_NEEDS_VECTORS();
  const auto bytes = test::read_file(test::vectors() / "simplest_file.nmb");
  auto changed = bytes;
  changed[16672 + 3] ^= std::byte{2};  // the first value
  test::FindingList findings;
  ASSERT_TRUE(verify(MemorySource(changed), {}, findings).ok());
  EXPECT_TRUE(findings.has(Severity::kFinding, "R-EX-6", 16672));
  test::make_sums_right(changed);
  findings.list.clear();
  ASSERT_TRUE(verify(MemorySource(changed), {}, findings).ok());
  EXPECT_TRUE(findings.list.empty()) << findings.text();
}

}  // namespace
}  // namespace nmb
