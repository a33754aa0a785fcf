// The collective operations: results, order, numbers of messages, failures.
#include <functional>
#include <string>

#include "support/rank_cases.h"

namespace nmb {
namespace {

std::vector<std::byte> message_of(const std::string& text) {
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// First and last rank of a range, to see that ranges are combined in order.
struct Range {
  int first, last;
  bool sound;
};
Range join(const Range& a, const Range& b) {
  return {a.first, b.last, a.sound && b.sound && a.last + 1 == b.first};
}

RANK_CASE(CombinesValuesInOrderOfRanks) {
  const Range mine{ranks.rank(), ranks.rank(), true};
  NMB_ASSIGN(const Range all, ranks.all_reduce(mine, join));
  NMB_TRY(expect(all.sound && all.first == 0 && all.last == ranks.size() - 1, "all ranks"));
  NMB_ASSIGN(const Range before, ranks.scan_before(mine, Range{-1, -1, true}, join));
  if (ranks.rank() == 0) return expect(before.first == -1, "none before rank 0");
  return expect(before.sound && before.first == 0 && before.last == ranks.rank() - 1,
                "the ranks before");
}

RANK_CASE(BroadcastsFromEachRank) {
  for (int root = 0; root < ranks.size(); ++root) {
    std::vector<std::byte> bytes;
    if (ranks.rank() == root) bytes = message_of("from " + std::to_string(root));
    NMB_TRY(ranks.broadcast(root, &bytes));
    NMB_TRY(expect(text_of(bytes) == "from " + std::to_string(root), "the root's bytes"));
    NMB_ASSIGN(const int value, ranks.broadcast_value(root, ranks.rank() * 10));
    NMB_TRY(expect(value == root * 10, "the root's value"));
  }
  return ranks.barrier();
}

// Every rank sends as many letters of its own to every rank; what arrives is of each rank in turn.
Status exchange_letters(Communicator& ranks, std::size_t length) {
  auto letters = [&](int rank) { return std::string(length, static_cast<char>('a' + rank)); };
  std::vector<Communicator::Parcel> parcels;
  for (int to = 0; to < ranks.size(); ++to)
    parcels.push_back({to, message_of(letters(ranks.rank()))});
  NMB_ASSIGN(const std::vector<Message> arrived, ranks.exchange(std::move(parcels)));
  NMB_TRY(expect(arrived.size() == static_cast<std::size_t>(ranks.size()), "a message of each"));
  for (int from = 0; from < ranks.size(); ++from)
    NMB_TRY(expect(text_of(arrived[static_cast<std::size_t>(from)].bytes()) == letters(from),
                   "a message of " + std::to_string(length)));
  return {};
}

NARROW_RANK_CASE(SendsLongMessagesInParts, 40) {
  for (std::size_t length : {0u, 1u, 23u, 24u, 25u, 64u, 65u, 1000u})
    NMB_TRY(exchange_letters(ranks, length));
  return {};
}

// Longer than a message that MPI sends before the receiver is ready.
RANK_CASE(ExchangesLongMessages) {
  for (int round = 0; round < 3; ++round) NMB_TRY(exchange_letters(ranks, 300'000));
  return {};
}

// Rank r sends to r * r and to every third, twice to itself.
std::vector<int> targets(int rank, int size) {
  std::vector<int> to{rank * rank % size, rank, rank};
  for (int i = rank % 3; i < size; i += 3) to.push_back(i);
  return to;
}

RANK_CASE(ExchangesInOrderOfSenders) {
  for (int round = 0; round < 3; ++round) {
    std::vector<Communicator::Parcel> parcels;
    for (int to : targets(ranks.rank(), ranks.size()))
      parcels.push_back(
          {to, message_of(std::to_string(round) + "/" + std::to_string(parcels.size()))});
    NMB_ASSIGN(const std::vector<Message> arrived, ranks.exchange(std::move(parcels)));
    std::size_t at = 0;
    for (int from = 0; from < ranks.size(); ++from) {
      const std::vector<int> to = targets(from, ranks.size());
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
}

RANK_CASE(SendsAsManyMessagesAsSaid) {
  std::uint64_t logarithm = 0;
  while ((1 << logarithm) < ranks.size()) ++logarithm;
  NMB_TRY(ranks.barrier());
  NMB_TRY(expect(ranks.traffic().messages == logarithm, "messages of a barrier"));
  std::vector<Communicator::Parcel> parcels;
  if (ranks.rank() == 0)
    for (int to = 0; to < ranks.size(); ++to) parcels.push_back({to, message_of("x")});
  NMB_TRY(ranks.exchange(std::move(parcels)).status());
  NMB_TRY(expect(ranks.traffic().messages == 2 * logarithm, "messages of an exchange"));
  parcels.clear();
  if (ranks.rank() == 0) parcels.push_back({ranks.size() - 1, message_of(std::string(1000, 'x'))});
  NMB_TRY(ranks.exchange(std::move(parcels)).status());
  const std::uint64_t before = 3 * logarithm + (ranks.rank() == 0 && ranks.size() > 1 ? 1u : 0u);
  NMB_TRY(expect(ranks.traffic().messages == before, "messages of an exchange of a long parcel"));
  NMB_TRY(ranks.agree({}));
  const std::uint64_t mine = ranks.traffic().messages - before;
  NMB_ASSIGN(const std::uint64_t tree, ranks.all_reduce(mine, std::plus<>()));
  return expect(tree == 2u * static_cast<unsigned>(ranks.size() - 1), "messages of an agreement");
}

RANK_CASE(AgreesOnTheLowestRanksFailure) {
  NMB_TRY(ranks.agree({}));
  auto failure = [](int rank, const std::string& where) {
    return Status(Code::kDamaged, "a.nmb", 17, "R-SB-1",
                  "found " + std::to_string(rank) + ", expected none" + where);
  };
  const int lowest = ranks.size() / 2;
  const Status all = ranks.agree(ranks.rank() >= lowest ? failure(ranks.rank(), "") : Status());
  const std::string where = ranks.size() == 1 ? "" : " (on rank " + std::to_string(lowest) + ")";
  return expect(all.code() == Code::kDamaged && all.text() == failure(lowest, where).text(),
                "the failure of rank " + std::to_string(lowest) + ", not " + all.text());
}

RANK_CASE(FindsDifferentCalls) {
  if (ranks.size() == 1) return {};
  const int last = ranks.size() - 1;
  const Status all = ranks.agree({}, ranks.rank() == last ? "sync()" : "redefine()");
  return expect(all.code() == Code::kUsage &&
                    all.message() == "found sync() on rank " + std::to_string(last) +
                                         " and redefine() on rank 0, expected the same collective "
                                         "call on all ranks",
                "different calls, not " + all.text());
}

}  // namespace
}  // namespace nmb
