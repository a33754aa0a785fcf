// Collective operations on messages from rank to rank (see nmb/communicator.h).
#include "nmb/communicator.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

#include "parallel/status_bytes.h"

namespace nmb {

namespace {

// Ahead of a message's first part: the operation, and the bytes of all parts behind this head.
struct Head {
  std::uint64_t tag;
  std::uint64_t length;
};

}  // namespace

Communicator::Communicator(std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)), rank_(transport_->rank()), size_(transport_->size()) {}

void Communicator::hold(std::uint64_t bytes) {
  held_ += bytes;
  traffic_.peak_bytes = std::max(traffic_.peak_bytes, held_);
}

Status Communicator::send(int to, Tag tag, std::span<const std::byte> bytes) {
  const Head head{tag, bytes.size()};
  std::size_t ahead = sizeof head;
  do {
    const std::size_t length = std::min(bytes.size(), transport_->max_message() - ahead);
    std::vector<std::byte> part;
    part.reserve(ahead + length);
    if (ahead != 0) {
      const auto first = std::as_bytes(std::span(&head, 1));
      part.insert(part.end(), first.begin(), first.end());
    }
    part.insert(part.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    ++traffic_.messages;
    traffic_.bytes += part.size();
    hold(part.size());
    NMB_TRY(transport_->send(to, std::move(part)));
    held_ -= ahead + length;
    bytes = bytes.subspan(length);
    ahead = 0;
  } while (!bytes.empty());
  return {};
}

// Takes one message from the network, or a part of one.
Status Communicator::take_arrival() {
  NMB_ASSIGN(Transport::Arrival arrival, transport_->next());
  hold(arrival.bytes.size());
  Partial& partial = partial_[arrival.from];
  if (partial.filled != 0) {
    std::memcpy(partial.bytes.data() + partial.filled, arrival.bytes.data(), arrival.bytes.size());
    partial.filled += arrival.bytes.size();
    held_ -= arrival.bytes.size();
  } else {
    partial.filled = arrival.bytes.size();
    partial.bytes = std::move(arrival.bytes);
  }
  Head head;
  std::memcpy(&head, partial.bytes.data(), sizeof head);
  if (partial.filled < sizeof head + head.length) {
    if (partial.bytes.size() == partial.filled) {
      hold(sizeof head + head.length - partial.filled);
      partial.bytes.resize(sizeof head + head.length);
    }
    return {};
  }
  waiting_[head.tag].emplace_back(arrival.from, std::move(partial.bytes), sizeof head);
  partial_.erase(arrival.from);
  return {};
}

Result<Message> Communicator::receive(int from, Tag tag) {
  for (;;) {
    if (auto found = waiting_.find(tag); found != waiting_.end()) {
      std::vector<Message>& messages = found->second;
      auto message = std::find_if(messages.begin(), messages.end(),
                                  [&](const Message& m) { return m.from() == from; });
      if (message != messages.end()) {
        Message out = std::move(*message);
        messages.erase(message);
        if (messages.empty()) waiting_.erase(found);
        held_ -= sizeof(Head) + out.bytes().size();
        return out;
      }
    }
    NMB_TRY(take_arrival());
  }
}

// All messages of an operation at once: taken out one by one they would cost the square of their
// number.
Status Communicator::receive_all(Tag tag, std::size_t count, std::vector<Message>* out) {
  if (count == 0) return {};
  std::vector<Message>& arrived = waiting_[tag];
  while (arrived.size() < count) NMB_TRY(take_arrival());
  for (Message& message : arrived) {
    held_ -= sizeof(Head) + message.bytes().size();
    out->push_back(std::move(message));
  }
  waiting_.erase(tag);
  return {};
}

void Communicator::fail(const Status& why) {
  if (transport_) transport_->fail(why);
}

Status Communicator::agree(const Status& status, std::string_view operation) {
  if (size_ == 1) return status;
  struct Deed {
    int rank = -1;
    std::array<char, 32> what{};
    std::string text() const {
      return (what[0] == 0 ? "something else" : std::string(what.data())) + " on rank " +
             std::to_string(rank);
    }
  };
  struct View {
    int failed;         // the lowest rank that failed
    Deed first, other;  // of the lowest rank, and of the lowest that does not do the same
  };
  View mine{status.ok() ? std::numeric_limits<int>::max() : rank_, {rank_, {}}, {}};
  assert(operation.size() < mine.first.what.size());
  std::copy(operation.begin(), operation.end(), mine.first.what.begin());
  NMB_ASSIGN(const View all, all_reduce(mine, [](const View& a, const View& b) {
               View both = a;
               both.failed = std::min(a.failed, b.failed);
               if (a.other.rank < 0) both.other = b.first.what != a.first.what ? b.first : b.other;
               return both;
             }));
  if (all.other.rank >= 0 || all.failed != std::numeric_limits<int>::max()) ++agreed_failures_;
  if (all.other.rank >= 0)
    return Status(Code::kUsage, "found " + all.other.text() + " and " + all.first.text() +
                                    ", expected the same collective call on all ranks");
  if (all.failed == std::numeric_limits<int>::max()) return {};
  std::vector<std::byte> bytes;
  if (all.failed == rank_) {
    const std::string where = names_ranks_ ? " (on rank " + std::to_string(rank_) + ")" : "";
    const bool said = status.message().ends_with(where);
    bytes = status_bytes(Status(status.code(), status.file(), status.offset(), status.rule(),
                                status.message() + (said ? "" : where)));
  }
  NMB_TRY(broadcast(all.failed, &bytes));
  return status_from(bytes);
}

Status Communicator::barrier() {
  const Tag tag = next_tag();
  // Dissemination: after the round of `step` a rank knows of 2 * step - 1 before it.
  for (int step = 1; step < size_; step *= 2) {
    NMB_TRY(send((rank_ + step) % size_, tag, {}));
    NMB_TRY(receive((rank_ - step + size_) % size_, tag).status());
  }
  return {};
}

Status Communicator::broadcast(int root, std::vector<std::byte>* bytes) {
  if (size_ == 1) return {};
  const Tag tag = next_tag();
  const int me = (rank_ - root + size_) % size_;
  int step = 1;
  for (; step < size_; step *= 2) {
    if (me & step) {
      NMB_ASSIGN(const Message message, receive((me - step + root) % size_, tag));
      bytes->assign(message.bytes().begin(), message.bytes().end());
      break;
    }
  }
  for (step /= 2; step > 0; step /= 2)
    if (me + step < size_) NMB_TRY(send((me + step + root) % size_, tag, *bytes));
  return {};
}

}  // namespace nmb
