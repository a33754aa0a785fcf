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

// The values of puts to blocks that have places for them, or in which they wait for places. Blocks
// come in order of where they lie in the file, and all puts of one together, in order of their
// runs: what lies side by side is written together.
Status Writer::Impl::put_all_of(std::span<Put*> puts) {
  NMB_TRY(make_room(puts));
  std::stable_sort(puts.begin(), puts.end(), [&](const Put* a, const Put* b) {
    return std::pair(state(a->block).run_position, a->block) <
           std::pair(state(b->block).run_position, b->block);
  });
  std::vector<std::byte> buffer;
  for (auto first = puts.begin(); first != puts.end();) {
    const BlockId id = (*first)->block;
    const auto end = std::find_if(first, puts.end(), [&](const Put* p) { return p->block != id; });
    const std::span<Put*> of_block(first, end);
    std::vector<RunCursor> cursors;
    std::uint64_t records = 0;
    for (const Put* put : of_block) {
      records = std::max(records, put->records);
      cursors.emplace_back(put->shape, put->slab);
    }
    NMB_ASSIGN(ExtentState * extent, start_put(id, records));
    NMB_TRY(keep(merge_runs(cursors, [&](std::size_t i, std::uint64_t offset, std::uint64_t index,
                                         std::uint64_t elements) {
      return put_run(*of_block[i], *extent, offset, index, elements, buffer);
    })));
    first = end;
  }
  return {};
}

// Requests as puts, and what is wrong with others.
std::vector<Writer::Impl::Put> Writer::Impl::check_requests(std::span<const PutRequest> requests,
                                                            std::span<Status> statuses) {
  std::vector<Put> puts;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const PutRequest& r = requests[i];
    Result<Put> put = check_put("wait()", r.block, r.variable, r.slab, r.memory, r.values);
    statuses[i] = put.status();
    if (!put.ok()) continue;
    puts.push_back(std::move(*put));
    puts.back().request = i;
  }
  return puts;
}

Status Writer::Impl::wait(std::span<const RequestId> ids, std::span<Status> statuses) {
  NMB_TRY(failure_);
  NMB_ASSIGN(const std::vector<PutRequest> requests, requests_.take(ids, statuses.size()));
  std::vector<Status> own(requests.size());
  std::vector<Put> puts = check_requests(requests, own);
  std::vector<Put*> wanted;
  for (Put& put : puts)
    if (!put.empty) wanted.push_back(&put);
  const Status put_here = put_all_of(wanted);
  for (const Put& put : puts) own[put.request] = put_here.ok() ? range_status(put) : put_here;
  if (!statuses.empty()) std::copy(own.begin(), own.end(), statuses.begin());
  return first_failure(own);
}

Status Writer::Impl::wait_all(std::span<const RequestId> ids, std::span<Status> statuses) {
  std::vector<Status> own;
  std::vector<Put> puts;
  const Status status = together("wait_all()", [&]() -> Status {
    if (define_mode_)
      return Status(Code::kUsage, "found wait_all() in define mode, expected end_define() before");
    auto check = [&]() -> Status {
      NMB_ASSIGN(const std::vector<PutRequest> requests, requests_.take(ids, statuses.size()));
      own.resize(requests.size());
      puts = check_requests(requests, own);
      return first_failure(own);
    };
    const Status checked = check();
    return put_together(checked, puts);
  });
  for (const Put& put : puts)
    if (own[put.request].ok()) own[put.request] = status.ok() ? range_status(put) : status;
  if (!statuses.empty()) std::copy(own.begin(), own.end(), statuses.begin());
  return status.ok() ? first_failure(own) : status;
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
