// Values that are put together when they are waited for (spec/rationale.md, "Requests").
#include <algorithm>
#include <numeric>
#include <tuple>

#include "values/run_cursor.h"
#include "writer/writer_impl.h"

namespace nmb {

Result<RequestId> Writer::Impl::iput(BlockId id, VarId variable, const Hyperslab& slab,
                                     MemoryType memory, const void* values) {
  NMB_TRY(check_put("iput()", id, variable, slab, memory, values).status());
  return requests_.add({id, variable, slab, memory, values});
}

// The status of each. Blocks come in order of where they lie in the file, and all requests of one
// together, in order of their runs: what lies side by side is written together.
std::vector<Status> Writer::Impl::put_requests(std::span<const PutRequest> requests,
                                               bool together) {
  std::vector<Status> statuses(requests.size());
  std::vector<std::size_t> order(requests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    auto place = [&](std::size_t i) {
      const BlockId id = requests[i].block;
      return std::tuple(state(id).run_position, id, i);
    };
    return place(a) < place(b);
  });
  std::vector<std::byte> buffer;
  for (auto first = order.begin(); first != order.end() && failure_.ok();) {
    const BlockId id = requests[*first].block;
    const auto end =
        std::find_if(first, order.end(), [&](std::size_t i) { return requests[i].block != id; });
    std::vector<Put> puts;
    std::vector<RunCursor> cursors;
    std::vector<std::size_t> numbers;
    std::uint64_t records = 0;
    for (; first != end; ++first) {
      const PutRequest& r = requests[*first];
      Result<Put> put = check_put("wait()", id, r.variable, r.slab, r.memory, r.values);
      statuses[*first] = put.status();
      if (!put.ok() || put->empty) continue;
      records = std::max(records, put->records);
      cursors.emplace_back(put->shape, r.slab);
      puts.push_back(std::move(*put));
      numbers.push_back(*first);
    }
    if (puts.empty()) continue;
    auto put_block = [&]() -> Status {
      NMB_ASSIGN(ExtentState * extent, start_put(id, records));
      const bool staged = together && others_may_put(id);
      return keep(merge_runs(cursors, [&](std::size_t i, std::uint64_t offset, std::uint64_t index,
                                          std::uint64_t elements) {
        return put_run(puts[i], *extent, offset, index, elements, staged, buffer);
      }));
    };
    const Status status = put_block();
    for (std::size_t i = 0; i < puts.size(); ++i)
      statuses[numbers[i]] = status.ok() ? range_status(puts[i]) : status;
  }
  if (!failure_.ok()) std::fill(statuses.begin(), statuses.end(), failure_);
  return statuses;
}

Status Writer::Impl::wait(std::span<const RequestId> ids, std::span<Status> statuses) {
  NMB_TRY(failure_);
  NMB_ASSIGN(const std::vector<PutRequest> requests, requests_.take(ids, statuses.size()));
  const std::vector<Status> own = put_requests(requests, false);
  if (!statuses.empty()) std::copy(own.begin(), own.end(), statuses.begin());
  return first_failure(own);
}

Status Writer::Impl::wait_all(std::span<const RequestId> ids, std::span<Status> statuses) {
  Status range;  // this rank's own matter: the values are put
  const Status status = together("wait_all()", [&]() -> Status {
    if (define_mode_)
      return Status(Code::kUsage, "found wait_all() in define mode, expected end_define() before");
    auto here = [&]() -> Status {
      NMB_ASSIGN(const std::vector<PutRequest> requests, requests_.take(ids, statuses.size()));
      const std::vector<Status> own = put_requests(requests, true);
      if (!statuses.empty()) std::copy(own.begin(), own.end(), statuses.begin());
      for (const Status& one : own) {
        if (one.code() != Code::kRange) NMB_TRY(one);
        if (range.ok()) range = one;
      }
      return {};
    };
    NMB_TRY(ranks_.agree(here()));
    return keep(place_values());
  });
  return status.ok() ? range : status;
}

// open: requests that ranks have not waited for.
Status Writer::Impl::check_none_open(std::uint64_t open, std::string_view operation) const {
  if (open == 0) return {};
  return Status(Code::kUsage, "found " + std::to_string(open) +
                                  (open == 1 ? " request that was" : " requests that were") +
                                  " not waited for, expected wait() or wait_all() before " +
                                  std::string(operation));
}

}  // namespace nmb
