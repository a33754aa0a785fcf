// Tests only for threads; the cases of parallel_ranks run on them too.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <new>

#include "parallel/communicator.h"

namespace nmb {
namespace {

TEST(ThreadRanks, AFailedRankFailsAllThatWait) {
  std::atomic<int> failures{0};
  const Status status = run_thread_ranks(5, [&](Communicator& ranks) -> Status {
    if (ranks.rank() == 2) return Status(Code::kIo, "found a broken disk");
    const Status waited = ranks.barrier();
    failures += waited.message() == "found a broken disk";
    return waited;
  });
  EXPECT_EQ(status.message(), "found a broken disk");
  EXPECT_EQ(failures, 4);
}

TEST(ThreadRanks, AnExceptionFailsAllThatWait) {
  const Status status = run_thread_ranks(3, [&](Communicator& ranks) -> Status {
    if (ranks.rank() == 1) throw std::bad_alloc();
    return ranks.barrier();
  });
  EXPECT_EQ(status.code(), Code::kLimit);
}

TEST(ThreadRanks, ARankThatLeavesHangsNobody) {
  const Status status = run_thread_ranks(
      4, [&](Communicator& ranks) { return ranks.rank() == 3 ? Status() : ranks.barrier(); });
  EXPECT_EQ(status.code(), Code::kUsage);
  EXPECT_NE(status.message().find("3 of 4 ranks waiting"), std::string::npos) << status.text();
}

TEST(ThreadRanks, ThousandsWithSmallStacks) {
  std::atomic<std::uint64_t> sum{0};
  const Status status = run_thread_ranks(
      1024,
      [&](Communicator& ranks) -> Status {
        NMB_ASSIGN(const std::uint64_t all,
                   ranks.all_reduce(static_cast<std::uint64_t>(ranks.rank()), std::plus<>()));
        sum += all;
        return {};
      },
      256 << 10);
  EXPECT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(sum, 1024u * (1023u * 1024u / 2));
}

}  // namespace
}  // namespace nmb
