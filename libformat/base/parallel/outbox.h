// Messages of one type between ranks. The type lists its fields in a function fields() (see
// parallel/message_fields.h).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "parallel/communicator.h"
#include "parallel/message_fields.h"

namespace nmb {

// Collects messages to any ranks, including this rank.
template <class M>
class Outbox {
 public:
  void add(int to, const M& what) { boxes_[to](what); }
  // Uses the memory of `bytes`, which must be empty but may have capacity, for the messages to a
  // rank. Must be called before add().
  void use(int to, std::vector<std::byte> bytes) { boxes_[to].use(std::move(bytes)); }
  // Returns the messages for Communicator::exchange() and removes them.
  std::vector<Communicator::Parcel> take() {
    std::vector<Communicator::Parcel> parcels;
    for (auto& [rank, box] : boxes_) parcels.push_back({rank, box.take()});
    boxes_.clear();
    return parcels;
  }

 private:
  std::map<int, FieldsOut> boxes_;
};

// The messages that have arrived, in the order of their senders and, for one sender, in the order
// in which it added them. Views in messages are valid as long as the inbox exists.
template <class M>
class Inbox {
 public:
  struct Envelope {
    int from;
    M what;
  };

  // Errors: kDamaged if the bytes are no messages of this type.
  static Result<Inbox> open(std::vector<Message> messages) {
    Inbox inbox;
    inbox.messages_ = std::move(messages);
    for (const Message& message : inbox.messages_) {
      for (FieldsIn in(message.bytes()); !in.at_end();) {
        inbox.envelopes_.push_back({message.from(), in.template next<M>()});
        NMB_TRY(in.status());
      }
    }
    return inbox;
  }
  bool empty() const { return envelopes_.empty(); }
  std::size_t size() const { return envelopes_.size(); }
  using Iterator = typename std::vector<Envelope>::const_iterator;
  Iterator begin() const { return envelopes_.begin(); }
  Iterator end() const { return envelopes_.end(); }
  auto begin() { return envelopes_.begin(); }
  auto end() { return envelopes_.end(); }

 private:
  std::vector<Message> messages_;
  std::vector<Envelope> envelopes_;
};

// Makes the communication of all ranks fail if this rank could not decode a message.
inline Status agree_on_fields(Communicator& ranks, const Status& decoded) {
  if (!decoded.ok()) ranks.fail(decoded);
  return decoded;
}

// Sends the messages of all ranks, and returns those that arrive at this rank. Collective.
template <class M>
Result<Inbox<M>> exchange(Communicator& ranks, Outbox<M>& out) {
  NMB_ASSIGN(std::vector<Message> arrived, ranks.exchange(out.take()));
  Result<Inbox<M>> inbox = Inbox<M>::open(std::move(arrived));
  NMB_TRY(agree_on_fields(ranks, inbox.status()));
  return inbox;
}

// Copies *value of rank `root` to all ranks. Collective. The type must have no views.
template <class T>
Status broadcast_fields(Communicator& ranks, int root, T* value) {
  if (ranks.size() == 1) return {};
  std::vector<std::byte> bytes;
  if (ranks.rank() == root) bytes = bytes_of_fields(*value);
  NMB_TRY(ranks.broadcast(root, &bytes));
  return ranks.rank() == root ? Status() : agree_on_fields(ranks, take_fields(bytes, value));
}

// Combines the values of all lower ranks, as Communicator::scan_before() does. Collective.
// `combine` gets and returns values of type T, which must have no views.
template <class T, class Combine>
Result<T> scan_fields(Communicator& ranks, const T& value, const T& first, Combine combine) {
  Status status;
  const auto value_of = [&](const std::string& text) {
    T out{};
    if (status.ok()) status = take_fields(std::as_bytes(std::span(text)), &out);
    return out;
  };
  NMB_ASSIGN(const std::string text,
             ranks.scan_before(text_of_fields(value), text_of_fields(first),
                               [&](const std::string& a, const std::string& b) {
                                 return text_of_fields(combine(value_of(a), value_of(b)));
                               }));
  T before = value_of(text);
  NMB_TRY(agree_on_fields(ranks, status));
  return before;
}

}  // namespace nmb
