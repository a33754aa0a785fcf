// Runs of several selections in order of where they lie.
#include "values/run_cursor.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace nmb {
namespace {

using Visit = std::tuple<std::size_t, std::uint64_t, std::uint64_t, std::uint64_t>;

// Of shorts in `lengths` from byte 100 on.
RunCursor cursor(std::vector<std::uint64_t> lengths, const Hyperslab& slab,
                 std::uint64_t record_size = 0) {
  return RunCursor({std::move(lengths), 2, 100, record_size}, slab);
}

std::vector<Visit> merged(std::vector<RunCursor> cursors) {
  std::vector<Visit> visits;
  EXPECT_TRUE(merge_runs(cursors, [&](auto... visit) {
                visits.emplace_back(visit...);
                return Status();
              }).ok());
  for (const RunCursor& cursor : cursors) EXPECT_TRUE(cursor.at_end());
  return visits;
}

TEST(RunCursor, GoesOnWithinARunAndBehindIt) {
  RunCursor run = cursor({4, 10}, {{1, 2}, {2, 3}, {2, 1}});
  EXPECT_EQ(std::tuple(run.offset(), run.element(), run.elements()), std::tuple(124u, 0u, 3u));
  run.skip(2);
  EXPECT_EQ(std::tuple(run.offset(), run.element(), run.elements()), std::tuple(128u, 2u, 1u));
  run.skip(1);
  EXPECT_EQ(std::tuple(run.offset(), run.element(), run.elements()), std::tuple(164u, 3u, 3u));
  run.skip(3);
  EXPECT_TRUE(run.at_end());
  EXPECT_TRUE(cursor({4, 10}, {{0, 0}, {0, 10}, {}}).at_end());
}

TEST(MergeRuns, ComeInOrderAndWhole) {
  // Two record variables, one behind the other in each record.
  const Hyperslab all{{0, 0}, {2, 3}, {}};
  RunCursor second({{2, 3}, 2, 106, 12}, all);
  EXPECT_EQ(merged({second, cursor({2, 3}, all, 12)}),
            (std::vector<Visit>{{1, 100, 0, 3}, {0, 106, 0, 3}, {1, 112, 3, 3}, {0, 118, 3, 3}}));
}

TEST(MergeRuns, WhatOverlapsEndsWithTheLaterSelection) {
  EXPECT_EQ(merged({cursor({10}, {{0}, {6}, {}}), cursor({10}, {{4}, {4}, {}})}),
            (std::vector<Visit>{{0, 100, 0, 4}, {0, 108, 4, 2}, {1, 108, 0, 4}}));
  EXPECT_EQ(merged({cursor({10}, {{4}, {4}, {}}), cursor({10}, {{0}, {6}, {}})}),
            (std::vector<Visit>{{1, 100, 0, 4}, {0, 108, 0, 4}, {1, 108, 4, 2}}));
}

TEST(MergeRuns, StopsAtTheFirstFailure) {
  std::vector<RunCursor> cursors(5, cursor({10}, {{0}, {5}, {2}}));
  int visits = 0;
  EXPECT_EQ(merge_runs(cursors,
                       [&](auto...) { return ++visits == 7 ? Status(Code::kIo, "no") : Status(); })
                .code(),
            Code::kIo);
  EXPECT_EQ(visits, 7);
}

}  // namespace
}  // namespace nmb
