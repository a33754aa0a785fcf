// RankWork: the collective operations of a writer's ranks. A collective operation runs a function
// on all ranks or on rank 0, agrees on a status, combines values, or exchanges messages of one
// type. A writer with a single rank sends no messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "nmb/communicator.h"
#include "parallel/letters.h"
#include "parallel/message_codec.h"

namespace nmb {

namespace message {

// Encodes a message. The type of a message must be trivially copyable, or have put(MessageWriter&)
// and a static get(MessageReader&).
template <class M>
void put(MessageWriter& out, const M& what) {
  if constexpr (requires { what.put(out); })
    what.put(out);
  else
    out.put(what);
}
template <class M>
M get(MessageReader& in) {
  if constexpr (requires { M::get(in); })
    return M::get(in);
  else
    return in.get<M>();
}

}  // namespace message

// Collects messages of one type. The receivers may be any ranks, including this rank.
template <class M>
class Outbox {
 public:
  void add(int to, const M& what) { message::put(letters_.to(to), what); }
  std::vector<Communicator::Parcel> take() { return letters_.take(); }

 private:
  Letters letters_;
};

// The messages that have arrived, in the order of their senders. Messages from the same sender are
// in the order in which the sender added them. Views in messages are valid as long as the inbox
// exists.
template <class M>
class Inbox {
 public:
  struct Letter {
    int from;
    M what;
  };
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Letter;
    using difference_type = std::ptrdiff_t;
    using pointer = const Letter*;
    using reference = Letter;

    Iterator(const std::vector<Message>& messages, std::size_t next)
        : messages_(&messages), next_(next), in_({}) {
      skip_empty();
    }
    Letter operator*() const {
      MessageReader in = in_;
      return {(*messages_)[next_ - 1].from(), message::get<M>(in)};
    }
    Iterator& operator++() {
      (void)message::get<M>(in_);
      skip_empty();
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_end_ == other.at_end_; }

   private:
    void skip_empty() {
      while (in_.at_end() && next_ < messages_->size())
        in_ = MessageReader((*messages_)[next_++].bytes());
      at_end_ = in_.at_end();
    }
    const std::vector<Message>* messages_;
    std::size_t next_;  // index of the next message in `messages_`
    MessageReader in_;
    bool at_end_ = true;
  };

  explicit Inbox(std::vector<Message> messages) : messages_(std::move(messages)) {}
  bool empty() const { return begin() == end(); }
  Iterator begin() const { return Iterator(messages_, 0); }
  Iterator end() const { return Iterator(messages_, messages_.size()); }

 private:
  std::vector<Message> messages_;
};

// Calls are collective unless a comment says otherwise: all ranks must make the same calls in the
// same order.
class RankWork {
 public:
  explicit RankWork(Communicator& ranks) : ranks_(ranks) {}

  bool is_alone() const { return ranks_.size() == 1; }  // not collective
  int own() const { return ranks_.rank(); }             // not collective
  bool is_first() const { return ranks_.rank() == 0; }  // not collective
  std::uint64_t count() const { return static_cast<std::uint64_t>(ranks_.size()); }
  Communicator& communicator() { return ranks_; }
  const Communicator& communicator() const { return ranks_; }

  // Returns ok only if all ranks pass ok; fails on all ranks if one rank has failed.
  Status agree(const Status& status, std::string_view operation = {}, std::uint64_t file = 0) {
    return ranks_.agree(status, operation, file);
  }
  // Calls work() on each rank. All ranks agree on the Status that work() returns.
  template <class Work>
  Status each(Work work) {
    return ranks_.agree(work());
  }
  template <class Work>
  Status first(Work work) {
    return ranks_.agree(is_first() ? work() : Status());
  }
  // Returns the value of rank 0 on all ranks.
  template <class T>
  Result<T> from_first(T value) {
    return ranks_.broadcast_value(0, std::move(value));
  }
  Status bytes_from_first(std::vector<std::byte>* bytes) { return ranks_.broadcast(0, bytes); }

  // Combines the values of all ranks, in the order of ranks. combine(a, b): `a` comes from lower
  // ranks than `b`.
  template <class T, class Combine>
  Result<T> combine(T value, Combine combine) {
    return ranks_.all_reduce(std::move(value), combine);
  }
  Result<bool> any(bool mine) { return ranks_.all_reduce(mine, std::logical_or<>()); }
  template <class T>
  Result<T> sum(T mine) {
    return ranks_.all_reduce(mine, std::plus<>());
  }
  template <class T>
  Result<T> highest(T mine) {
    return ranks_.all_reduce(mine, [](T a, T b) { return std::max(a, b); });
  }
  template <class T>
  struct InOrder {
    T before;  // the combined values of all lower ranks
    T all;
  };
  // Combines the values of all ranks in the order of ranks. On each rank, returns two results: the
  // combined values of all lower ranks, and the combined values of all ranks. none: the result for
  // rank 0, which has no lower ranks.
  template <class T, class Then>
  Result<InOrder<T>> in_order(T mine, T none, Then then) {
    NMB_ASSIGN(T before, ranks_.scan_before(mine, none, then));
    NMB_ASSIGN(T all, ranks_.broadcast_value(ranks_.size() - 1, then(before, mine)));
    return InOrder<T>{std::move(before), std::move(all)};
  }

  template <class M>
  Result<Inbox<M>> exchange(Outbox<M>& out) {
    NMB_ASSIGN(std::vector<Message> arrived, ranks_.exchange(out.take()));
    return Inbox<M>(std::move(arrived));
  }

 private:
  Communicator& ranks_;
};

}  // namespace nmb
