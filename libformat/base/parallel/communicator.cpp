#include "parallel/communicator.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <utility>

#include "parallel/message_fields.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Data that follow the bytes of a message or, if the message is divided, of its first part. At the
// end, they can be added without copying the bytes.
struct Trailer {
  std::uint64_t tag;
  std::uint64_t length;  // length of the message
};

}  // namespace

Message::Message(int from, std::vector<std::byte> bytes, std::shared_ptr<MessageMemory> memory)
    : from_(from) {
  auto give_back = [memory = std::move(memory)](std::vector<std::byte>* owned) {
    if (memory) memory->give_back(std::move(*owned));
    delete owned;
  };
  const std::shared_ptr<std::vector<std::byte>> owner(new std::vector(std::move(bytes)),
                                                      std::move(give_back));
  owner_ = owner;
  bytes_ = *owner_;
}

Communicator::Communicator(std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)), rank_(transport_->rank()), size_(transport_->size()) {}

Communicator::~Communicator() {
  if (!gave_up_.ok()) fail(std::exchange(gave_up_, {}));
  if (transport_) transport_->end_before(completed_ + 1);
}

void Communicator::hold(std::uint64_t bytes) {
  held_ += bytes;
  traffic_.peak_bytes = std::max(traffic_.peak_bytes, held_);
}

Status Communicator::send(int to, Tag tag, std::vector<std::byte> bytes) {
  const std::size_t length = bytes.size();
  const Trailer trailer{tag, length};
  auto send_part = [&](std::vector<std::byte> part) -> Status {
    const std::size_t held = part.size();
    ++traffic_.messages;
    traffic_.bytes += held;
    hold(held);
    NMB_TRY(transport_->send(to, std::move(part)));
    held_ -= held;
    return {};
  };
  auto add_trailer = [&](std::vector<std::byte>* part) {
    const auto end = std::as_bytes(std::span(&trailer, 1));
    part->insert(part->end(), end.begin(), end.end());
  };
  const std::size_t most = transport_->max_message();
  if (length + sizeof trailer <= most) {
    add_trailer(&bytes);
    return send_part(std::move(bytes));
  }
  for (std::size_t at = 0; at < length;) {
    const std::size_t end = std::min(length, at + most - (at == 0 ? sizeof trailer : 0));
    std::vector<std::byte> part;
    part.reserve(most);
    part.assign(bytes.data() + at, bytes.data() + end);
    if (at == 0) add_trailer(&part);
    NMB_TRY(send_part(std::move(part)));
    at = end;
  }
  return {};
}

Status Communicator::send_copy(int to, Tag tag, std::span<const std::byte> bytes) {
  std::vector<std::byte> copy = parcel_bytes(bytes.size());
  copy.assign(bytes.begin(), bytes.end());
  return send(to, tag, std::move(copy));
}

std::vector<std::byte> Communicator::parcel_bytes(std::size_t length) {
  length += sizeof(Trailer);
  std::vector<std::byte> bytes;
  if (transport_)
    bytes = transport_->memory()->take(length);
  else
    bytes.reserve(length);
  bytes.clear();
  return bytes;
}

// Takes one message, or a part of a message, from the network.
Status Communicator::take_arrival(Tag tag) {
  NMB_ASSIGN(Transport::Arrival arrival, transport_->next(number_of(tag)));
  std::vector<std::byte> bytes = std::move(arrival.bytes);
  hold(bytes.size());
  auto partial = partial_.find(arrival.from);
  if (partial == partial_.end()) {
    Trailer trailer;
    if (bytes.size() < sizeof trailer) return other_call(arrival.from);
    const std::size_t filled = bytes.size() - sizeof trailer;
    std::memcpy(&trailer, bytes.data() + filled, sizeof trailer);
    if (filled > trailer.length) return other_call(arrival.from);
    bytes.resize(filled);
    held_ -= sizeof trailer;
    if (filled == trailer.length) {
      waiting_[trailer.tag].emplace_back(arrival.from, std::move(bytes), transport_->memory());
      return {};
    }
    hold(trailer.length - filled);
    bytes.resize(trailer.length);
    partial_.emplace(arrival.from, Partial{trailer.tag, std::move(bytes), filled});
    return {};
  }
  Partial& message = partial->second;
  if (bytes.size() > message.bytes.size() - message.filled) return other_call(arrival.from);
  std::memcpy(message.bytes.data() + message.filled, bytes.data(), bytes.size());
  message.filled += bytes.size();
  held_ -= bytes.size();
  transport_->memory()->give_back(std::move(bytes));
  if (message.filled == message.bytes.size()) {
    waiting_[message.tag].emplace_back(arrival.from, std::move(message.bytes),
                                       transport_->memory());
    partial_.erase(partial);
  }
  return {};
}

Status Communicator::other_call(int from) {
  const Status status(
      Code::kUsage,
      joined_text("found different collective calls on ranks ", std::max(from, rank_), " and ",
                  std::min(from, rank_), ", expected the same collective calls on all ranks"));
  // If the other rank has failed earlier, fail_together() returns that failure, which is the cause.
  return fail_together(status);
}

Status Communicator::check_same(Tag tag) {
  // At the end of an operation, all of its messages have been taken.
  const auto first = waiting_.begin();
  if (first != waiting_.end() && first->first < tag) return other_call(first->second[0].from());
  const auto next = waiting_.upper_bound(tag);
  if (next != waiting_.end() && number_of(next->first) == number_of(tag))
    return other_call(next->second[0].from());
  return {};
}

Result<Message> Communicator::receive(int from, Tag tag) {
  for (;;) {
    if (auto found = waiting_.find(tag); found != waiting_.end()) {
      std::vector<Message>& messages = found->second;
      auto message =
          std::ranges::find_if(messages, [&](const Message& m) { return m.from() == from; });
      if (message != messages.end()) {
        Message out = std::move(*message);
        messages.erase(message);
        if (messages.empty()) waiting_.erase(found);
        held_ -= out.bytes().size();
        return out;
      }
    }
    NMB_TRY(check_same(tag));
    NMB_TRY(take_arrival(tag));
  }
}

// Takes all messages of an operation at once. Taking them one by one would need time quadratic in
// their number.
Status Communicator::receive_all(Tag tag, std::size_t count, std::vector<Message>* out) {
  if (count == 0) return {};
  auto arrived = waiting_.find(tag);
  while (arrived == waiting_.end() || arrived->second.size() < count) {
    NMB_TRY(check_same(tag));
    NMB_TRY(take_arrival(tag));
    if (arrived == waiting_.end()) arrived = waiting_.find(tag);
  }
  for (Message& message : arrived->second) {
    held_ -= message.bytes().size();
    out->push_back(std::move(message));
  }
  waiting_.erase(arrived);
  return {};
}

Communicator::Tag Communicator::next_tag(Operation what) {
  if (!gave_up_.ok()) fail(std::exchange(gave_up_, {}));
  return (++operations_ << kOperationBits) | static_cast<Tag>(what);
}

void Communicator::fail(const Status& why) {
  gave_up_ = {};
  if (transport_) transport_->fail(why, completed_ + 1);
}

Status Communicator::fail_together(const Status& why) {
  if (!transport_) return why;
  fail(why);
  return transport_->next(operations_ + 1).status();
}

void Communicator::give_up(const Status& why) {
  if (works_ == 0)
    fail(why);
  else
    give_up_later(why);
}

Status Communicator::end_work(const Status& status, std::uint64_t failures_before) {
  --works_;
  const Status left = std::exchange(gave_up_, {});
  // After a collective call that failed, slower ranks may still be in it: they get the same text.
  if (!status.ok())
    return fail_together(agreed_failures_ == failures_before ? status.on_rank(rank_) : status);
  if (!left.ok()) fail(left);
  return {};
}

Status Communicator::agree(const Status& status, std::string_view operation, std::uint64_t file,
                           std::uint64_t arguments) {
  if (size_ == 1) return status;
  struct CollectiveOp {
    int rank = -1;
    std::array<char, 32> what{};
    std::uint64_t file = 0, arguments = 0;
    bool has_target_of(const CollectiveOp& other) const {
      return what == other.what && file == other.file;
    }
    bool is(const CollectiveOp& other) const {
      return has_target_of(other) && arguments == other.arguments;
    }
    // Returns a text for a message about two calls that differ. among: the other call.
    std::string text(const CollectiveOp& among) const {
      return joined_text(what[0] == 0 ? "another call" : std::string(what.data()),
                         what == among.what ? joined_text(" of file ", file) : "", " on rank ",
                         rank);
    }
  };
  struct View {
    int failed;                 // lowest rank that failed
    CollectiveOp first, other;  // `first`: the call of the lowest rank; `other`: the call of the
                                // lowest rank whose call differs from `first`
  };
  View mine{
      status.ok() ? std::numeric_limits<int>::max() : rank_, {rank_, {}, file, arguments}, {}};
  assert(operation.size() < mine.first.what.size());
  std::ranges::copy(operation, mine.first.what.begin());
  NMB_ASSIGN(const View all, all_reduce(mine, [](const View& a, const View& b) {
               View both = a;
               both.failed = std::min(a.failed, b.failed);
               if (a.other.rank < 0) both.other = b.first.is(a.first) ? b.other : b.first;
               return both;
             }));
  if (all.other.rank >= 0 || all.failed != std::numeric_limits<int>::max()) ++agreed_failures_;
  if (all.other.rank >= 0) ++differing_calls_;
  if (all.other.rank >= 0 && all.other.has_target_of(all.first))
    return Status(Code::kUsage,
                  joined_text("found other arguments of ", std::string(operation), " on rank ",
                              all.other.rank, " than on rank ", all.first.rank,
                              ", expected the same arguments on all ranks"));
  if (all.other.rank >= 0)
    return Status(Code::kUsage, "found " + all.other.text(all.first) + " and " +
                                    all.first.text(all.other) +
                                    ", expected the same collective call on all ranks");
  if (all.failed == std::numeric_limits<int>::max()) return {};
  std::vector<std::byte> bytes;
  if (all.failed == rank_) bytes = bytes_of_fields(names_ranks_ ? status.on_rank(rank_) : status);
  NMB_TRY(broadcast(all.failed, &bytes));
  Status shared;
  NMB_TRY(take_fields(bytes, &shared));
  return shared;
}

Status Communicator::of_first(const Status& status) {
  if (size_ == 1) return status;
  std::vector<std::byte> bytes;
  if (rank_ == 0) bytes = bytes_of_fields(status);
  NMB_TRY(broadcast(Operation::kFirst, 0, &bytes));
  Status shared;
  NMB_TRY(take_fields(bytes, &shared));
  if (!shared.ok()) ++agreed_failures_;
  return shared;
}

Status Communicator::barrier() {
  const Tag tag = next_tag(Operation::kBarrier);
  // Dissemination: after the round with this `step`, a rank knows that the 2 * step - 1 ranks
  // before it have arrived.
  for (int step = 1; step < size_; step *= 2) {
    NMB_TRY(send((rank_ + step) % size_, tag, {}));
    NMB_TRY(receive((rank_ - step + size_) % size_, tag).status());
  }
  complete();
  return {};
}

Status Communicator::broadcast(int root, std::vector<std::byte>* bytes) {
  return broadcast(Operation::kBroadcast, root, bytes);
}

Status Communicator::broadcast(Operation what, int root, std::vector<std::byte>* bytes) {
  if (size_ == 1) return {};
  const Tag tag = next_tag(what);
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
    if (me + step < size_) NMB_TRY(send_copy((me + step + root) % size_, tag, *bytes));
  complete();
  return {};
}

}  // namespace nmb
