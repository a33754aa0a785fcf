#include "put/requests.h"

#include <algorithm>
#include <iterator>
#include <variant>

#include "put/puts.h"
#include "put/puts_together.h"
#include "state/stored_blocks.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

Result<RequestId> Requests::iput(BlockId id, VarId variable, const Hyperslab& slab,
                                 ConstArray values) {
  NMB_TRY(w_.define_mode ? check_before_layout(id, variable, slab, values)
                         : Puts(w_).check("iput()", id, variable, slab, values).status());
  return w_.requests.add({id, variable, slab, values});
}

Result<RequestId> Requests::iput(BlockId id, VarId variable, const Hyperslabs& slabs,
                                 ConstArray values) {
  NMB_ASSIGN(const Put put, Puts(w_).check_variable("iput()", id, variable, values));
  NMB_ASSIGN(std::vector<NumberedRun> runs, numbered_runs(put.shape, slabs));
  std::uint64_t elements = 0;
  for (const NumberedRun& run : runs)
    if (!checked_add(elements, run.elements, &elements))
      return Status(Code::kLimit, "the selections have more than 2^64 elements");
  NMB_TRY(check_count(values.count(), elements));
  NMB_TRY(check_not_null(values, "variable", w_.blocks[id].metadata->variable(variable).name));
  return w_.requests.add({id, variable, std::move(runs), values});
}

// Checks in define mode what definitions cannot change; wait() checks the rest.
Status Requests::check_before_layout(BlockId id, VarId variable, const Hyperslab& slab,
                                     ConstArray values) {
  NMB_TRY(w_.failure);
  NMB_TRY(check_id(w_, id));
  NMB_TRY(check_not_from_hdf5(w_, id));
  if (!w_.blocks[id].packed()) NMB_TRY(load_definitions(w_, id));
  const Metadata* const metadata = w_.blocks[id].metadata.get();
  if (!metadata || variable >= metadata->variable_count())
    return Status(Code::kUsage, joined_text("invalid variable ID ", variable));
  NMB_TRY(check_count(values.count(), element_count(slab)));
  return check_not_null(values, "variable", metadata->variable(variable).name);
}

Status Requests::cancel(std::span<const RequestId> ids) {
  NMB_TRY(w_.failure);
  return w_.requests.take(ids, 0).status();
}

// Converts valid requests to puts and returns them. Sets the status of each request.
std::vector<Put> Requests::check(std::span<const PutRequest> requests, std::span<Status> statuses) {
  std::vector<Put> puts;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const PutRequest& r = requests[i];
    const std::size_t before = puts.size();
    const auto check = [&]() -> Status {
      if (const auto* runs = std::get_if<std::vector<NumberedRun>>(&r.selected)) {
        NMB_ASSIGN(std::vector<Put> some,
                   Puts(w_).check("wait()", r.block, r.variable, *runs, r.values));
        std::ranges::move(some, std::back_inserter(puts));
      } else {
        NMB_ASSIGN(Put one, Puts(w_).check("wait()", r.block, r.variable,
                                           std::get<Hyperslab>(r.selected), r.values));
        puts.push_back(std::move(one));
      }
      return {};
    };
    statuses[i] = check();
    for (std::size_t p = before; p < puts.size(); ++p) puts[p].request = i;
  }
  return puts;
}

Status Requests::wait(std::span<const RequestId> ids, std::span<Status> statuses) {
  NMB_TRY(w_.failure);
  if (w_.define_mode)
    return Status(Code::kUsage, "wait() is not allowed in define mode; call end_define() first");
  NMB_ASSIGN(const std::vector<PutRequest> requests, w_.requests.take(ids, statuses.size()));
  std::vector<Status> own(requests.size());
  std::vector<Put> puts = check(requests, own);
  std::vector<Put*> wanted;
  for (Put& put : puts)
    if (!put.empty) wanted.push_back(&put);
  const Status put_here = Puts(w_).put_all_of(wanted);
  for (const Put& put : puts)
    if (own[put.request].ok())
      own[put.request] = put_here.ok() ? Puts(w_).range_status(put) : put_here;
  if (!statuses.empty()) std::ranges::copy(own, statuses.begin());
  return first_failure(own);
}

Status Requests::wait_all(std::span<const RequestId> ids, std::span<Status> statuses) {
  std::vector<Status> own;
  std::vector<Put> puts;
  bool out_of_range = false;  // on any rank
  const auto check_ids = [&] {
    return w_.define_mode
               ? Status(Code::kUsage,
                        "wait_all() is not allowed in define mode; call end_define() first")
               : w_.requests.check(ids, statuses.size());
  };
  const Status status = w_.together("wait_all()", check_ids, [&]() -> Status {
    const auto take = [&]() -> Status {
      NMB_ASSIGN(const std::vector<PutRequest> requests, w_.requests.take(ids, statuses.size()));
      own.resize(requests.size());
      puts = check(requests, own);
      return first_failure(own);
    };
    const Status taken = take();  // fills `puts`
    NMB_ASSIGN(out_of_range, PutsTogether(w_).put_together(taken, puts));
    return {};
  });
  for (const Put& put : puts)
    if (own[put.request].ok()) own[put.request] = status.ok() ? Puts(w_).range_status(put) : status;
  if (!statuses.empty()) std::ranges::copy(own, statuses.begin());
  return out_of_range ? w_.ranks.agree(first_failure(own)) : status;
}

Status check_none_open(std::uint64_t open, std::string_view operation) {
  if (open == 0) return {};
  return Status(Code::kUsage, joined_text(open, open == 1 ? " request is" : " requests are",
                                          " open; call wait() or wait_all() before ", operation));
}

}  // namespace nmb
