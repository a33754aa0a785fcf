// exchange() with messages that arrive from any rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <random>

#include "parallel/communicator.h"
#include "parallel/message_fields.h"

namespace nmb {
namespace {

// The network of rank 0 of `size`, to which each other rank has sent one message ahead of all else,
// the highest first.
class OneFromEach final : public Transport {
 public:
  explicit OneFromEach(int size) : size_(size), from_(size) {}
  int rank() const override { return 0; }
  int size() const override { return size_; }
  int node_leader() const override { return 0; }
  bool shares_memory() const override { return false; }
  double waiting_seconds() const override { return 0; }
  Status send(int, std::vector<std::byte>) override { return {}; }
  void fail(const Status&, std::uint64_t) override {}
  Result<Arrival> next(std::uint64_t) override {
    if (--from_ > 0) return message(from_, kLong, std::as_bytes(std::span(&from_, 1)));
    // Then how many come straight to rank 0: the first says all of it.
    struct Count {
      std::uint32_t distance, parcels;
    };
    std::vector<Count> counts;
    if (step_ == 1) counts.push_back({0, static_cast<std::uint32_t>(size_ - 1)});
    const int from = size_ - step_;
    step_ *= 2;
    return message(from, kPassedOn, bytes_of_fields(counts));
  }

 private:
  // Tags of the first exchange of a communicator: numbers 1 and 2, above the bits that say what an
  // operation does.
  static constexpr std::uint64_t kPassedOn = 1 << 3 | 5, kLong = 2 << 3 | 5;
  static Arrival message(int from, std::uint64_t operation, std::span<const std::byte> bytes) {
    const std::uint64_t trailer[2] = {operation, bytes.size()};
    std::vector<std::byte> out(bytes.begin(), bytes.end());
    const auto end = std::as_bytes(std::span(trailer));
    out.insert(out.end(), end.begin(), end.end());
    return {from, std::move(out)};
  }

  int size_, from_;
  int step_ = 1;
};

TEST(Exchange, ManyMessagesForOneRankAreInOrderOfTheirSenders) {
  constexpr int kRanks = 100'000;
  Communicator ranks(std::make_unique<OneFromEach>(kRanks));
  const auto cpu_seconds = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double before = cpu_seconds();
  const Result<std::vector<Message>> arrived = ranks.exchange({});
  const double took = cpu_seconds() - before;
  RecordProperty("milliseconds", static_cast<int>(1000 * took));
  // A square of their number would take minutes; sanitizers take some times as long.
  EXPECT_LT(took, 1.0);
  ASSERT_TRUE(arrived.ok()) << arrived.status().text();
  ASSERT_EQ(arrived->size(), std::size_t{kRanks - 1});
  for (int from = 1; from < kRanks; ++from) {
    const Message& message = (*arrived)[static_cast<std::size_t>(from - 1)];
    int said = 0;
    std::memcpy(&said, message.bytes().data(), sizeof said);
    ASSERT_EQ(message.from(), from);
    ASSERT_EQ(said, from);
  }
}

// Parcels that a rank sends to another in one call: of these lengths, filled with their number.
std::vector<std::size_t> lengths(int from, int to, int call) {
  constexpr std::array<std::size_t, 9> kLengths{0, 1, 100, 255, 256, 257, 16 << 10, 16385, 70'000};
  std::minstd_rand random(static_cast<unsigned>(1 + from + 100 * to + 10'000 * call));
  random.discard(3);
  if (call % 3 == 0 && (from + to) % 5 != 0) return {};
  std::vector<std::size_t> out(random() % 4);
  for (std::size_t& length : out)
    length = kLengths[random() % (call % 3 == 2 ? kLengths.size() : std::size_t{6})];
  return out;
}

TEST(Exchange, ShortAndLongParcelsArriveInOrder) {
  for (const int size : {2, 3, 7, 16, 33}) {
    const Status status = run_thread_ranks(size, [&](Communicator& ranks) -> Status {
      for (int call = 0; call < 6; ++call) {
        std::vector<Communicator::Parcel> parcels;
        for (int to = ranks.size() - 1; to >= 0; --to) {
          auto number = 0;
          for (const std::size_t length : lengths(ranks.rank(), to, call))
            parcels.push_back({to, std::vector(length, static_cast<std::byte>(++number))});
        }
        NMB_ASSIGN(const std::vector<Message> arrived, ranks.exchange(std::move(parcels)));
        auto next = arrived.begin();
        for (int from = 0; from < ranks.size(); ++from) {
          auto number = 0;
          for (const std::size_t length : lengths(from, ranks.rank(), call)) {
            const auto expected = std::vector(length, static_cast<std::byte>(++number));
            if (next == arrived.end() || next->from() != from ||
                !std::ranges::equal(next->bytes(), expected))
              return Status(Code::kUsage, "found another parcel from rank " + std::to_string(from));
            ++next;
          }
        }
        if (next != arrived.end()) return Status(Code::kUsage, "found more parcels than sent");
      }
      return {};
    });
    EXPECT_TRUE(status.ok()) << size << " ranks: " << status.text();
  }
}

}  // namespace
}  // namespace nmb
