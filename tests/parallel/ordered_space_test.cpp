// Space in the order of blocks is what one rank alone would give out, on any number of ranks.
#include "state/ordered_space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <random>

#include "parallel/communicator.h"
#include "wire/checked.h"

namespace nmb {
namespace {

struct SpaceCase {
  std::uint64_t cursor = 0;
  std::vector<std::vector<OrderedRequest>> of_ranks;
};

// Each block's requests are of one rank. The end of one of them may be where free space begins.
SpaceCase space_case(int ranks, unsigned number) {
  std::minstd_rand random(number * 100 + static_cast<unsigned>(ranks));
  SpaceCase out;
  out.cursor = random() % 5000 * 8;
  out.of_ranks.resize(static_cast<std::size_t>(ranks));
  const std::uint64_t blocks = number == 0 ? 0 : random() % 2000;
  std::uint64_t order = random() % 3 * 1'000'000;
  bool has_tail = out.cursor == 0;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    order += 1 + random() % (number % 3 == 0 ? 1000 : 2);
    auto& list = out.of_ranks[random() % static_cast<unsigned>(ranks)];
    for (auto i = random() % 3; i > 0; --i) {
      OrderedRequest request{order, random() % 4 == 0 ? 0 : random() % 20000,
                             std::uint64_t{1} << std::array{3, 3, 12, 16}[random() % 4]};
      if (!has_tail && random() % 8 == 0) request.tail = out.cursor - random() % 8;
      has_tail = has_tail || request.tail != 0;
      list.push_back(request);
    }
  }
  for (auto& list : out.of_ranks) {
    // A rank gives its blocks in any order, the requests of one as they are.
    const std::size_t turn = list.empty() ? 0 : random() % list.size();
    std::rotate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(turn), list.end());
    std::ranges::stable_sort(list, {}, [](const OrderedRequest& r) { return r.order % 7; });
  }
  return out;
}

TEST(OrderedSpace, IsThatOfOneRankAlone) {
  for (const int size : {1, 2, 3, 8, 40}) {
    for (unsigned number = 0; number < 24; ++number) {
      const SpaceCase given = space_case(size, number);
      struct Expected {
        const OrderedRequest* request;
        std::uint64_t position;
      };
      std::vector<std::vector<Expected>> expected(given.of_ranks.size());
      std::vector<Expected*> by_order;
      for (std::size_t rank = 0; rank < given.of_ranks.size(); ++rank)
        for (const OrderedRequest& request : given.of_ranks[rank])
          expected[rank].push_back({&request, 0});
      for (auto& list : expected)
        for (Expected& one : list) by_order.push_back(&one);
      std::ranges::stable_sort(by_order, {},
                               [](const Expected* one) { return one->request->order; });
      std::uint64_t end = given.cursor;
      for (Expected* one : by_order) {
        const OrderedRequest& r = *one->request;
        one->position =
            r.tail != 0 && round_up(r.tail, 8) == end ? r.tail : round_up(end, r.alignment);
        if (r.length > 0) end = round_up(one->position + r.length, 8);
      }
      const Status status = run_thread_ranks(size, [&](Communicator& ranks) -> Status {
        const auto rank = static_cast<std::size_t>(ranks.rank());
        // Rank 0's counts.
        std::uint64_t cursor = ranks.rank() == 0 ? given.cursor : 4711;
        NMB_ASSIGN(const std::vector<std::uint64_t> positions,
                   take_ordered_space(ranks, given.of_ranks[rank], &cursor));
        bool same = cursor == end && positions.size() == expected[rank].size();
        for (std::size_t i = 0; same && i < positions.size(); ++i)
          same = positions[i] == expected[rank][i].position;
        return same ? Status() : Status(Code::kUsage, "found other positions");
      });
      EXPECT_TRUE(status.ok()) << size << " ranks, case " << number << ": " << status.text();
    }
  }
}

TEST(OrderedSpace, BehindTheLimitFailsOnAllRanks) {
  int failed = 0;
  std::mutex mutex;
  const Status status = run_thread_ranks(3, [&](Communicator& ranks) -> Status {
    std::uint64_t cursor = 16384;
    std::vector<OrderedRequest> requests;
    if (ranks.rank() != 1)
      requests.push_back({static_cast<std::uint64_t>(ranks.rank()), std::uint64_t{1} << 61});
    const auto positions = take_ordered_space(ranks, requests, &cursor);
    const std::lock_guard lock(mutex);
    failed += positions.status().code() == Code::kLimit;
    return {};
  });
  EXPECT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(failed, 3);
}

// No rank learns of all requests, nor sends messages to all.
TEST(OrderedSpace, NoRankLearnsOfAll) {
  constexpr int kRanks = 256, kOwn = 100;
  std::atomic<std::uint64_t> held = 0, messages = 0;
  const Status status = run_thread_ranks(kRanks, [&](Communicator& ranks) -> Status {
    std::vector<OrderedRequest> requests;
    for (int i = 0; i < kOwn; ++i)
      requests.push_back({static_cast<std::uint64_t>(ranks.rank() * kOwn + i), 100});
    std::uint64_t cursor = 16384;
    NMB_TRY(take_ordered_space(ranks, requests, &cursor).status());
    NMB_ASSIGN(const std::uint64_t peak,
               ranks.all_reduce(ranks.traffic().peak_bytes,
                                [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); }));
    if (ranks.rank() == 0) {
      held = peak;
      messages = ranks.traffic().messages;
    }
    return {};
  });
  EXPECT_TRUE(status.ok()) << status.text();
  EXPECT_LT(held, std::uint64_t{4 * kOwn} * sizeof(OrderedRequest));
  EXPECT_LT(messages, 80u);
}

}  // namespace
}  // namespace nmb
