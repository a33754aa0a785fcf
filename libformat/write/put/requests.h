// Requests: puts whose values are written when the program waits for them (spec/rationale.md,
// "Requests").
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "put/puts.h"

namespace nmb {

class Requests {
 public:
  explicit Requests(WriterCore& writer) : w_(writer) {}

  Result<RequestId> iput(BlockId id, VarId variable, const Hyperslab& slab, ConstArray values);
  Result<RequestId> iput(BlockId id, VarId variable, const Hyperslabs& slabs, ConstArray values);
  // Closes requests without putting their values.
  Status cancel(std::span<const RequestId> ids);
  // statuses: receives the status of each request, or is empty.
  Status wait(std::span<const RequestId> ids, std::span<Status> statuses);
  // Collective.
  Status wait_all(std::span<const RequestId> ids, std::span<Status> statuses);

 private:
  Status check_before_layout(BlockId id, VarId variable, const Hyperslab& slab, ConstArray values);
  std::vector<Put> check(std::span<const PutRequest> requests, std::span<Status> statuses);

  WriterCore& w_;
};

// Fails if requests are open. open: number of requests on all ranks together that the program has
// not yet passed to wait() or wait_all().
Status check_none_open(std::uint64_t open, std::string_view operation);

}  // namespace nmb
