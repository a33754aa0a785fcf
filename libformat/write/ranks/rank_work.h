// RankWork: the collective operations of a writer's ranks. A collective operation runs a function
// on all ranks or on rank 0, agrees on a status, combines values, or exchanges messages of one
// type. A writer with a single rank sends no messages.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "parallel/communicator.h"
#include "parallel/outbox.h"

namespace nmb {

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
  // Works like agree() and then combine(), with the messages of combine() alone unless a rank has
  // failed.
  template <class T, class Combine>
  Result<T> agree_and_combine(const Status& status, T mine, Combine combine) {
    return ranks_.agree_and_reduce(status, mine, combine);
  }
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
    return nmb::exchange(ranks_, out);
  }

 private:
  Communicator& ranks_;
};

}  // namespace nmb
