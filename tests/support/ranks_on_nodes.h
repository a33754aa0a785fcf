// Ranks that are threads and behave as processes on several machines: ranks of a node follow one
// another, or nodes take turns, and no rank uses another's memory.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "parallel/communicator.h"

namespace nmb::test {

enum class Placement { kNodeByNode, kByTurns };

class NodeTransport final : public Transport {
 public:
  NodeTransport(std::unique_ptr<Transport> inner, int nodes, Placement placement)
      : inner_(std::move(inner)), nodes_(nodes), placement_(placement) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  int node_leader() const override {
    if (placement_ == Placement::kByTurns) return inner_->rank() % nodes_;
    const std::int64_t size = inner_->size(), node = std::int64_t{inner_->rank()} * nodes_ / size;
    return static_cast<int>((node * size + nodes_ - 1) / nodes_);
  }
  bool shares_memory() const override { return false; }
  Status send(int to, std::vector<std::byte> bytes) override {
    return inner_->send(to, std::move(bytes));
  }
  Result<Arrival> next(std::uint64_t operation) override { return inner_->next(operation); }
  void fail(const Status& why, std::uint64_t from) override { inner_->fail(why, from); }
  double waiting_seconds() const override { return inner_->waiting_seconds(); }

 private:
  std::unique_ptr<Transport> inner_;
  int nodes_;
  Placement placement_;
};

// As run_thread_ranks(). nodes: 0: threads that share memory.
template <class Body>
Status run_ranks_on_nodes(int size, int nodes, const Body& body,
                          Placement placement = Placement::kNodeByNode) {
  std::vector<std::unique_ptr<Transport>> ends = make_thread_network(size);
  return run_thread_ranks(size, [&](Communicator& threads) -> Status {
    if (nodes == 0) return body(threads);
    Communicator ranks(std::make_unique<NodeTransport>(
        std::move(ends[static_cast<std::size_t>(threads.rank())]), nodes, placement));
    const Status status = body(ranks);
    if (!status.ok()) ranks.fail(status);
    return status;
  });
}

}  // namespace nmb::test
