// Which ranks write, by file system and options.
#include "ranks/aggregation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "support/ranks_on_nodes.h"

namespace nmb {
namespace {

constexpr std::uint64_t kExt4 = 0xef53, kNfs = 0x6969, kLustre = 0x0bd00bd0, kGpfs = 0x47504653,
                        kBeeGfs = 0x19830326, kOrangeFs = 0x20030528;
constexpr std::uint64_t kMiB = 1 << 20;

TEST(Aggregation, AllRanksOfOneMachineWrite) {
  for (const std::uint64_t magic : {kExt4, kNfs, kLustre, kGpfs, kBeeGfs, std::uint64_t{0}})
    for (const int ranks : {1, 2, 8, 4096})
      EXPECT_EQ(choose_aggregation({magic, 4096}, ranks, 1).writers, ranks);
}

TEST(Aggregation, ARankOfEachMachineWrites) {
  for (const std::uint64_t magic : {kLustre, kGpfs, kBeeGfs, kOrangeFs, std::uint64_t{0x1234}})
    EXPECT_EQ(choose_aggregation({magic, 4096}, 64, 4).writers, 4);
  EXPECT_EQ(choose_aggregation({kNfs, 4096}, 64, 4).writers, 1);
  EXPECT_EQ(choose_aggregation({kNfs, 4096}, 64, 4).value_writers, 4);
}

TEST(Aggregation, NoMoreRanksThanStorageTargetsWriteMetadata) {
  const Aggregation how = choose_aggregation({kLustre, 4096, 4u << 20, 3}, 64, 8);
  EXPECT_EQ(how.writers, 3);
  EXPECT_EQ(how.value_writers, 8);
  EXPECT_EQ(how.stripe, 4 * kMiB);
}

TEST(Aggregation, TakesALayoutOfLustre) {
  std::vector<std::byte> layout(32);
  auto put = [&](std::size_t at, std::uint32_t value, std::size_t size) {
    std::memcpy(layout.data() + at, &value, size);
  };
  auto taken = [&] {
    FileSystem found{kLustre, 4096};
    take_lustre_layout(layout, &found);
    return std::pair(found.stripes, found.stripe_size);
  };
  put(0, 0x0BD10BD0, 4);
  put(24, 1 << 22, 4);
  put(28, 5, 2);
  EXPECT_EQ(taken(), std::pair(5, 1u << 22));
  put(28, 0xFFFF, 2);  // all targets there are
  EXPECT_EQ(taken(), std::pair(0, 1u << 22));
  put(0, 0x0BD60BD0, 4);  // of several components
  EXPECT_EQ(taken(), std::pair(0, 0u));
  put(0, 0x0BD30BD0, 4);
  layout.resize(31);
  EXPECT_EQ(taken(), std::pair(0, 0u));
}

TEST(Aggregation, StripesAreWholeBlocksOfTheFileSystem) {
  for (const std::uint64_t block : {0u, 512u, 4096u}) {
    EXPECT_EQ(choose_aggregation({kNfs, block}, 8, 2).stripe, kMiB);
    EXPECT_EQ(choose_aggregation({kExt4, block}, 8, 1).stripe, 64u << 10);
  }
  EXPECT_EQ(choose_aggregation({kGpfs, 16 * kMiB}, 8, 2).stripe, 16 * kMiB);
  EXPECT_EQ(choose_aggregation({kGpfs, 16 * kMiB}, 8, 1).stripe, 16 * kMiB);
  EXPECT_EQ(choose_aggregation({kGpfs, 768 << 10}, 8, 2).stripe, 1536u << 10);
  // Not to be believed.
  EXPECT_EQ(choose_aggregation({kNfs, ~std::uint64_t{0}}, 8, 2).stripe, kMiB);
}

TEST(Aggregation, WritersAreSpreadEvenly) {
  for (int ranks = 1; ranks <= 20; ++ranks) {
    for (int writers = 1; writers <= ranks; ++writers) {
      const Aggregation how{writers, 4096, writers};
      std::set<int> owners;
      for (std::uint64_t stripe = 0; stripe < 3u * static_cast<unsigned>(writers); ++stripe) {
        const int owner = how.rank_of(stripe * 4096 + stripe % 4096, ranks);
        EXPECT_EQ(owner,
                  static_cast<int>(stripe % static_cast<unsigned>(writers)) * ranks / writers);
        owners.insert(owner);
      }
      EXPECT_EQ(owners.size(), static_cast<std::size_t>(writers));
      EXPECT_EQ(*owners.begin(), 0);
      for (int rank = 0; rank < ranks; ++rank)
        EXPECT_EQ(how.writes(rank, ranks), owners.count(rank) == 1)
            << "rank " << rank << " of " << ranks << ", " << writers << " write";
    }
  }
}

TEST(Aggregation, WritersLeadNodes) {
  const Aggregation how{3, 4096, 5, {0, 4, 5, 9, 12}};
  std::set<int> owners;
  for (std::uint64_t stripe = 0; stripe < 9; ++stripe)
    owners.insert(how.rank_of(stripe * 4096, 16));
  EXPECT_EQ(owners, (std::set<int>{0, 4, 9}));
  for (int rank = 0; rank < 16; ++rank) {
    EXPECT_EQ(how.writes(rank, 16), owners.count(rank) == 1) << rank;
    EXPECT_EQ(how.of_values().writes(rank, 16), std::ranges::count(how.candidates, rank) == 1)
        << rank;
  }
}

// More writers than nodes, whose ranks come by turns: as many on each node as can be.
TEST(Aggregation, WritersAreSpreadOverNodes) {
  for (const int aggregators : {2, 3, 4, 5}) {
    std::vector<int> writers;
    const Status status = test::run_ranks_on_nodes(
        6, 2,
        [&](Communicator& ranks) -> Status {
          FileWriterOptions options;
          options.aggregators = aggregators;
          NMB_ASSIGN(const Aggregation how, agree_on_aggregation(ranks, ".", false, options));
          if (ranks.rank() == 0) writers = how.writer_ranks(ranks.size());
          return {};
        },
        test::Placement::kByTurns);
    ASSERT_TRUE(status.ok()) << status.text();
    ASSERT_EQ(writers.size(), static_cast<std::size_t>(aggregators));
    EXPECT_TRUE(std::ranges::is_sorted(writers));
    const auto on_second = std::ranges::count_if(writers, [](int rank) { return rank % 2 == 1; });
    EXPECT_EQ(on_second, aggregators / 2) << aggregators;
  }
}

}  // namespace
}  // namespace nmb
