// Runs of inputs with about as many bytes each.
#include "merge/reading/input_shares.h"

#include <gtest/gtest.h>

namespace nmb {
namespace {

using Ends = std::vector<std::size_t>;

TEST(InputShares, AreRunsOfAboutAsManyBytes) {
  const std::vector<std::uint64_t> bytes = {10, 10, 10, 10, 0, 100, 1, 1, 1, 57};
  EXPECT_EQ(share_ends(bytes, 1), Ends({10}));
  EXPECT_EQ(share_ends(bytes, 2), Ends({6, 10}));
  EXPECT_EQ(share_ends({5}, 3), Ends({0, 1, 1}));
  EXPECT_EQ(share_ends({}, 3), Ends({0, 0, 0}));
}

TEST(InputShares, GoByNumbersWhereThereAreNoBytes) {
  EXPECT_EQ(share_ends({0, 0, 0, 0}, 2), Ends({2, 4}));
}

TEST(InputShares, DoNotOverflow) {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  EXPECT_EQ(share_ends({most, most, most, most}, 2), Ends({2, 4}));
}

}  // namespace
}  // namespace nmb
