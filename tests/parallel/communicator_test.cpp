// Collective operations, on threads: results, numbers of messages, failures without a hang.
#include "nmb/communicator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "nmb/thread_ranks.h"

namespace nmb {
namespace {

constexpr int kSizes[] = {1, 2, 3, 5, 8, 13};

std::vector<std::byte> bytes_of(const std::string& text) {
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Status expect(bool holds, const std::string& what) {
  return holds ? Status() : Status(Code::kUsage, "found otherwise: " + what);
}

// First and last rank of a range, to see that ranges are combined in order.
struct Range {
  int first, last;
  bool sound;
};
Range join(const Range& a, const Range& b) {
  return {a.first, b.last, a.sound && b.sound && a.last + 1 == b.first};
}

TEST(Communicator, CombinesValuesInOrderOfRanks) {
  for (int size : kSizes) {
    const Status status = run_thread_ranks(size, [&](Communicator& ranks) -> Status {
      const Range mine{ranks.rank(), ranks.rank(), true};
      NMB_ASSIGN(const Range all, ranks.all_reduce(mine, join));
      NMB_TRY(expect(all.sound && all.first == 0 && all.last == size - 1, "all ranks"));
      NMB_ASSIGN(const Range before, ranks.scan_before(mine, Range{-1, -1, true}, join));
      if (ranks.rank() == 0) return expect(before.first == -1, "none before rank 0");
      return expect(before.sound && before.first == 0 && before.last == ranks.rank() - 1,
                    "the ranks before");
    });
    EXPECT_TRUE(status.ok()) << size << " ranks: " << status.text();
  }
}

TEST(Communicator, BroadcastsFromEachRank) {
  for (int size : kSizes) {
    const Status status = run_thread_ranks(size, [&](Communicator& ranks) -> Status {
      for (int root = 0; root < size; ++root) {
        std::vector<std::byte> bytes;
        if (ranks.rank() == root) bytes = bytes_of("from " + std::to_string(root));
        NMB_TRY(ranks.broadcast(root, &bytes));
        NMB_TRY(expect(text_of(bytes) == "from " + std::to_string(root), "the root's bytes"));
        NMB_ASSIGN(const int value, ranks.broadcast_value(root, ranks.rank() * 10));
        NMB_TRY(expect(value == root * 10, "the root's value"));
      }
      return ranks.barrier();
    });
    EXPECT_TRUE(status.ok()) << size << " ranks: " << status.text();
  }
}

// Passes messages of at most 40 bytes, heads included.
class NarrowTransport final : public Transport {
 public:
  explicit NarrowTransport(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  std::size_t max_message() const override { return 40; }
  int node_leader() const override { return inner_->node_leader(); }
  bool shares_memory() const override { return inner_->shares_memory(); }
  Status send(int to, std::vector<std::byte> bytes) override {
    if (bytes.empty() || bytes.size() > 40) return Status(Code::kUsage, "found a wide message");
    return inner_->send(to, std::move(bytes));
  }
  Result<Arrival> next() override { return inner_->next(); }
  void fail(const Status& why) override { inner_->fail(why); }
  double waiting_seconds() const override { return inner_->waiting_seconds(); }

 private:
  std::unique_ptr<Transport> inner_;
};

// As messages past 2 GiB go in parts of 1 GiB.
TEST(Communicator, SendsLongMessagesInParts) {
  std::vector<std::unique_ptr<Transport>> ends = make_thread_network(3);
  auto run = [&](std::size_t rank) -> Status {
    Communicator ranks(std::make_unique<NarrowTransport>(std::move(ends[rank])));
    for (std::size_t length : {0, 1, 23, 24, 25, 64, 65, 1000}) {
      std::vector<Communicator::Parcel> parcels;
      for (int to = 0; to < 3; ++to)
        parcels.push_back({to, bytes_of(std::string(length, static_cast<char>('a' + rank)))});
      NMB_ASSIGN(const std::vector<Message> arrived, ranks.exchange(std::move(parcels)));
      NMB_TRY(expect(arrived.size() == 3, "three messages"));
      for (std::size_t from = 0; from < 3; ++from)
        NMB_TRY(expect(
            text_of(arrived[from].bytes()) == std::string(length, static_cast<char>('a' + from)),
            "a message of " + std::to_string(length)));
    }
    return {};
  };
  std::vector<Status> status(3);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] { status[rank] = run(rank); });
  for (std::thread& thread : threads) thread.join();
  for (const Status& one : status) EXPECT_TRUE(one.ok()) << one.text();
}

// Rank r sends to r * r and to every third, twice to itself.
std::vector<int> targets(int rank, int size) {
  std::vector<int> to{rank * rank % size, rank, rank};
  for (int i = rank % 3; i < size; i += 3) to.push_back(i);
  return to;
}

TEST(Communicator, ExchangesInOrderOfSenders) {
  for (int size : kSizes) {
    const Status status = run_thread_ranks(size, [&](Communicator& ranks) -> Status {
      for (int round = 0; round < 3; ++round) {
        std::vector<Communicator::Parcel> parcels;
        for (int to : targets(ranks.rank(), size))
          parcels.push_back(
              {to, bytes_of(std::to_string(round) + "/" + std::to_string(parcels.size()))});
        NMB_ASSIGN(const std::vector<Message> arrived, ranks.exchange(std::move(parcels)));
        std::size_t at = 0;
        for (int from = 0; from < size; ++from) {
          const std::vector<int> to = targets(from, size);
          for (std::size_t i = 0; i < to.size(); ++i) {
            if (to[i] != ranks.rank()) continue;
            NMB_TRY(expect(
                at < arrived.size() && arrived[at].from() == from &&
                    text_of(arrived[at].bytes()) == std::to_string(round) + "/" + std::to_string(i),
                "message " + std::to_string(at)));
            ++at;
          }
        }
        NMB_TRY(expect(at == arrived.size(), "no more messages"));
      }
      return {};
    });
    EXPECT_TRUE(status.ok()) << size << " ranks: " << status.text();
  }
}

TEST(Communicator, SendsAsManyMessagesAsSaid) {
  for (int size : kSizes) {
    int rounds = 0;
    while ((1 << rounds) < size) ++rounds;
    std::atomic<std::uint64_t> tree{0};
    const Status status = run_thread_ranks(size, [&](Communicator& ranks) -> Status {
      const auto logarithm = static_cast<std::uint64_t>(rounds);
      NMB_TRY(ranks.barrier());
      NMB_TRY(expect(ranks.traffic().messages == logarithm, "messages of a barrier"));
      std::vector<Communicator::Parcel> parcels;
      if (ranks.rank() == 0) parcels.push_back({size - 1, bytes_of("x")});
      NMB_TRY(ranks.exchange(std::move(parcels)).status());
      const std::uint64_t own = ranks.rank() == 0 && size > 1 ? 1 : 0;
      NMB_TRY(expect(ranks.traffic().messages == 2 * logarithm + own, "messages of an exchange"));
      NMB_TRY(ranks.agree({}));
      tree += ranks.traffic().messages - 2 * logarithm - own;
      return {};
    });
    EXPECT_TRUE(status.ok()) << size << " ranks: " << status.text();
    EXPECT_EQ(tree, 2u * static_cast<unsigned>(size - 1));
  }
}

TEST(Communicator, AgreesOnTheLowestRanksFailure) {
  for (int size : kSizes) {
    std::mutex mutex;
    std::vector<std::string> texts;
    const Status status = run_thread_ranks(size, [&](Communicator& ranks) -> Status {
      NMB_TRY(ranks.agree({}));
      Status mine;
      if (ranks.rank() >= size / 2)
        mine = Status(Code::kDamaged, "a.nmb", 17, "R-SB-1",
                      "found " + std::to_string(ranks.rank()) + ", expected none");
      const Status all = ranks.agree(mine);
      std::lock_guard lock(mutex);
      texts.push_back(all.text());
      return {};
    });
    EXPECT_TRUE(status.ok()) << status.text();
    const std::string rank = std::to_string(size / 2);
    const std::string where = size == 1 ? "" : " (on rank " + rank + ")";
    EXPECT_EQ(texts, std::vector<std::string>(static_cast<std::size_t>(size),
                                              Status(Code::kDamaged, "a.nmb", 17, "R-SB-1",
                                                     "found " + rank + ", expected none" + where)
                                                  .text()));
  }
}

TEST(Communicator, FindsDifferentCalls) {
  std::atomic<int> failures{0};
  const Status status = run_thread_ranks(5, [&](Communicator& ranks) -> Status {
    const Status all = ranks.agree({}, ranks.rank() == 3 ? 2 : 1);
    failures +=
        all.code() == Code::kUsage && all.message().find("ranks 0 and 3") != std::string::npos;
    return {};
  });
  EXPECT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(failures, 5);
}

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
