// A transport that passes only short messages: long ones go in parts, as those past 2 GiB do.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "parallel/communicator.h"

namespace nmb {

class NarrowTransport final : public Transport {
 public:
  NarrowTransport(std::unique_ptr<Transport> inner, std::size_t max_message)
      : inner_(std::move(inner)), max_message_(max_message) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  std::size_t max_message() const override { return max_message_; }
  int node_leader() const override { return inner_->node_leader(); }
  bool shares_memory() const override { return inner_->shares_memory(); }
  Status send(int to, std::vector<std::byte> bytes) override {
    if (bytes.empty() || bytes.size() > max_message_)
      return Status(Code::kUsage, "found a message of " + std::to_string(bytes.size()) +
                                      " bytes, expected 1 to " + std::to_string(max_message_));
    return inner_->send(to, std::move(bytes));
  }
  Result<Arrival> next(std::uint64_t operation) override { return inner_->next(operation); }
  void fail(const Status& why, std::uint64_t from) override { inner_->fail(why, from); }
  double waiting_seconds() const override { return inner_->waiting_seconds(); }
  const MpiIo* mpi_io() const override { return inner_->mpi_io(); }

 private:
  std::unique_ptr<Transport> inner_;
  std::size_t max_message_;
};

}  // namespace nmb
