// Names of kinds of conflicts.
#include <gtest/gtest.h>

#include <set>

#include "merge/reporting/merge.h"

namespace nmb {
namespace {

TEST(ConflictKind, EachHasANameOfItsOwn) {
  std::set<std::string_view> names;
  constexpr auto kLast = static_cast<int>(ConflictKind::kLoss);
  for (int kind = 0; kind <= kLast; ++kind)
    names.insert(conflict_name(static_cast<ConflictKind>(kind)));
  EXPECT_EQ(names.size(), kLast + 1u);
  EXPECT_FALSE(names.contains(""));
  EXPECT_EQ(conflict_name(ConflictKind::kBlockName), "block name");
  EXPECT_EQ(conflict_name(ConflictKind::kMissingRows), "missing block, no rows");
  EXPECT_EQ(conflict_name(ConflictKind::kLoss), "loss");
}

}  // namespace
}  // namespace nmb
