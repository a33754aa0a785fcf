// Which ranks write, by file system and options.
#include "writer/aggregation.h"

#include <gtest/gtest.h>

#include <set>

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

TEST(Aggregation, OneRankOfSeveralMachinesWritesWhereLocksMove) {
  for (const std::uint64_t magic : {kNfs, kLustre, kGpfs, std::uint64_t{0x1234}})
    EXPECT_EQ(choose_aggregation({magic, 4096}, 64, 4).writers, 1);
}

TEST(Aggregation, OneRankAMachineWritesWhereNothingIsLocked) {
  EXPECT_EQ(choose_aggregation({kBeeGfs, 4096}, 64, 4).writers, 4);
  EXPECT_EQ(choose_aggregation({kOrangeFs, 4096}, 64, 64).writers, 64);
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
      const Aggregation how{writers, 4096};
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

}  // namespace
}  // namespace nmb
