// What exchange() does with the messages that arrive, whoever sends them.
#include <gtest/gtest.h>

#include <cstring>

#include "nmb/communicator.h"

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
  void fail(const Status&) override {}
  Result<Arrival> next() override {
    if (--from_ > 0) return message(from_, 1, std::as_bytes(std::span(&from_, 1)));
    // Then how many come straight to rank 0: the first says all of it.
    const struct {
      std::uint64_t length;
      std::uint32_t distance, parcels;
    } count{8, 0, static_cast<std::uint32_t>(size_ - 1)}, none{};
    const int from = size_ - step_;
    const bool first = step_ == 1;
    step_ *= 2;
    return message(from, 2,
                   std::as_bytes(std::span(first ? &count : &none, 1)).first(first ? 16 : 8));
  }

 private:
  static Arrival message(int from, std::uint64_t operation, std::span<const std::byte> bytes) {
    const std::uint64_t head[2] = {operation, bytes.size()};
    std::vector<std::byte> out(sizeof head + bytes.size());
    std::memcpy(out.data(), head, sizeof head);
    if (!bytes.empty()) std::memcpy(out.data() + sizeof head, bytes.data(), bytes.size());
    return {from, std::move(out)};
  }

  int size_, from_;
  int step_ = 1;
};

TEST(Exchange, ManyMessagesForOneRankAreInOrderOfTheirSenders) {
  constexpr int kRanks = 100'000;
  Communicator ranks(std::make_unique<OneFromEach>(kRanks));
  const Result<std::vector<Message>> arrived = ranks.exchange({});
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

}  // namespace
}  // namespace nmb
