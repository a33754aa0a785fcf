// Slices of the name space: the same on all ranks, of about equal share.
#include "parallel/name_slices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <numeric>

#include "parallel/communicator.h"

namespace nmb {
namespace {

// names[r]: of rank r, sorted. Returns how many names each slice has.
std::vector<std::size_t> shares(const std::vector<std::vector<std::string>>& names) {
  std::vector<std::size_t> share;
  std::mutex mutex;
  const Status status =
      run_thread_ranks(static_cast<int>(names.size()), [&](Communicator& ranks) -> Status {
        const auto& own = names[static_cast<std::size_t>(ranks.rank())];
        const std::vector<std::string_view> views(own.begin(), own.end());
        NMB_ASSIGN(const NameSlices slices, NameSlices::choose(ranks, views, 64));
        const std::vector<std::size_t> begins = slices.cut(views);
        std::lock_guard lock(mutex);
        if (!share.empty() && share.size() != slices.count())
          return Status(Code::kUsage, "found different slices");
        share.resize(slices.count());
        for (std::size_t s = 0; s < slices.count(); ++s) share[s] += begins[s + 1] - begins[s];
        return {};
      });
  EXPECT_TRUE(status.ok()) << status.text();
  return share;
}

std::vector<std::string> numbered(std::size_t from, std::size_t to) {
  std::vector<std::string> names;
  for (std::size_t i = from; i < to; ++i) names.push_back("event/" + std::to_string(1000000 + i));
  return names;
}

TEST(NameSlices, EqualShares) {
  // Ranks with much, little and nothing.
  const auto share = shares({numbered(0, 5000), {}, numbered(5000, 5010), numbered(5010, 9000)});
  ASSERT_EQ(share.size(), 4u);
  EXPECT_EQ(std::accumulate(share.begin(), share.end(), std::size_t{0}), 9000u);
  for (std::size_t names : share) EXPECT_NEAR(static_cast<double>(names), 2250, 2250 / 4);
}

TEST(NameSlices, FewNamesAreOneSlice) {
  EXPECT_EQ(shares({numbered(0, 100), numbered(100, 127)}), std::vector<std::size_t>{127});
  EXPECT_EQ(shares({{}, {}, {}}), std::vector<std::size_t>{0});
  EXPECT_EQ(shares({numbered(0, 1000)}), std::vector<std::size_t>{1000});
}

TEST(NameSlices, TheSameNamesOnAllRanks) {
  const auto share = shares(std::vector<std::vector<std::string>>(4, numbered(0, 1000)));
  EXPECT_EQ(std::accumulate(share.begin(), share.end(), std::size_t{0}), 4000u);
  for (std::size_t names : share) EXPECT_NEAR(static_cast<double>(names), 1000, 250);
}

TEST(NameSlices, OwnersAscend) {
  const Status status = run_thread_ranks(7, [&](Communicator& ranks) -> Status {
    const auto names = numbered(0, 50);
    const std::vector<std::string_view> views(names.begin(), names.end());
    NMB_ASSIGN(const NameSlices slices, NameSlices::choose(ranks, views, 64));
    int last = -1;
    for (std::size_t s = 0; s < slices.count(); ++s) {
      if (slices.owner(s) <= last || slices.owner(s) >= 7)
        return Status(Code::kUsage, "found an owner out of order");
      last = slices.owner(s);
    }
    return {};
  });
  EXPECT_TRUE(status.ok()) << status.text();
}

}  // namespace
}  // namespace nmb
