#include "nmconvert/rank_shares.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <queue>
#include <span>

namespace nmb::tools {

namespace {

// Opening, checking and naming a file takes as much time as moving this number of bytes.
constexpr std::uint64_t kCostOfFile = 256 << 10;

struct Head {
  std::uint64_t at = 0, length = 0, has_proof = 0;
};

std::vector<std::byte> message_of(const Head& head, const ConversionRecord& record) {
  const std::vector<std::uint8_t> body = record_message(record);
  std::vector<std::byte> out(sizeof head + body.size());
  std::memcpy(out.data(), &head, sizeof head);
  std::memcpy(out.data() + sizeof head, body.data(), body.size());
  return out;
}

Result<ConversionRecord> read_message(const Message& message, Head* head) {
  const std::span<const std::byte> bytes = message.bytes();
  if (bytes.size() < sizeof *head)
    return Status(Code::kUsage, "a message from another rank is incomplete");
  std::memcpy(head, bytes.data(), sizeof *head);
  const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return record_from({begin + sizeof *head, begin + bytes.size()});
}

// Returns the rank that converts each file. In descending order of size, each file goes to the rank
// that has the least work so far.
std::vector<int> ranks_of(const std::vector<FileShare>& files, int ranks) {
  std::vector<std::size_t> order(files.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return files[a].length > files[b].length; });
  using Load = std::pair<std::uint64_t, int>;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (int rank = 0; rank < ranks; ++rank) loads.emplace(0, rank);
  std::vector<int> out(files.size());
  for (const std::size_t i : order) {
    const auto [load, rank] = loads.top();
    loads.pop();
    out[i] = rank;
    loads.emplace(load + files[i].length + kCostOfFile, rank);
  }
  return out;
}

}  // namespace

Result<std::vector<FileShare>> deal_files(Communicator& ranks, std::vector<FileShare> files) {
  if (ranks.size() == 1) return files;
  std::vector<Communicator::Parcel> parcels;
  const std::vector<int> to = ranks_of(files, ranks.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    FileShare& file = files[i];
    const bool has_proof = file.proof.has_value();
    ConversionRecord record = std::move(file.proof).value_or(ConversionRecord{});
    record.of = std::move(file.conversion);
    parcels.push_back({to[i], message_of({file.at, file.length, has_proof}, record)});
  }
  NMB_ASSIGN(const std::vector<Message> messages, ranks.exchange(std::move(parcels)));
  std::vector<FileShare> share;
  for (const Message& message : messages) {
    Head head;
    NMB_ASSIGN(ConversionRecord record, read_message(message, &head));
    FileShare file{head.at, head.length, record.of, {}};
    if (head.has_proof != 0) file.proof = std::move(record);
    share.push_back(std::move(file));
  }
  return share;
}

Result<FileWorkers::Finished> gather_finished(Communicator& ranks, FileWorkers::Finished own) {
  if (ranks.size() == 1) return own;
  std::vector<Communicator::Parcel> parcels;
  for (const auto& [at, record] : own) parcels.push_back({0, message_of({at, 0, 0}, record)});
  NMB_ASSIGN(const std::vector<Message> messages, ranks.exchange(std::move(parcels)));
  FileWorkers::Finished all;
  for (const Message& message : messages) {
    Head head;
    NMB_ASSIGN(ConversionRecord record, read_message(message, &head));
    all.emplace_back(head.at, std::move(record));
  }
  return all;
}

}  // namespace nmb::tools
