// Reads several hyperslabs together (see reader/file_reader.h).
#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "reader/file_reader.h"
#include "reader/scatter_window.h"
#include "values/open_requests.h"
#include "values/read_checks.h"
#include "values/run_cursor.h"
#include "wire/joined_text.h"

namespace nmb {

struct GetRequests::State {
  struct Request {
    Object object;
    const ExtentSource* source;  // extent of the object's block
    VariableShape shape;
    Hyperslab slab;
    MutableArray out;
  };
  OpenRequests<Request> requests;
};

GetRequests::GetRequests() : state_(std::make_unique<State>()) {}
GetRequests::~GetRequests() = default;

std::size_t GetRequests::open() const { return state_->requests.size(); }

Result<RequestId> GetRequests::iget(const Object& object, const Hyperslab& slab, MutableArray out) {
  const Metadata& metadata = object.block->metadata;
  if (object.variable >= metadata.variable_count())
    return Status(Code::kUsage,
                  joined_text("found variable ID ", object.variable, " in a block with ",
                              metadata.variable_count(), " variables"));
  const ByteSource* const extent = object.block->extent.get();
  const KnownSource known = extent ? extent->known() : KnownSource();
  const auto* const source = std::get_if<const ExtentSource*>(&known);
  if (!source) return Status(Code::kUsage, "the block of a request does not come from a Reader");
  if (metadata.extension())
    return Status(Code::kUnsupported,
                  "a request cannot read a variable of a block of kind 6; "
                  "use Dataset::read");
  NMB_TRY(check_memory_type(metadata.variable(object.variable), out.type()));
  NMB_ASSIGN(VariableShape shape, object.block->shape(object.variable));
  NMB_TRY(check_hyperslab(shape, slab));
  NMB_TRY(check_count(slab, out.count()));
  return state_->requests.add({object, *source, std::move(shape), slab, out});
}

Status GetRequests::wait(std::span<const RequestId> ids, std::span<Status> statuses) {
  NMB_ASSIGN(const std::vector<State::Request> requests,
             state_->requests.take(ids, statuses.size()));
  std::vector<GetTarget> targets;
  targets.reserve(requests.size());
  for (const State::Request& r : requests)
    targets.push_back({r.object.block->metadata.variable(r.object.variable).type, r.out.type(),
                       r.object.block->kind(), r.out.data()});
  // Two loaded copies of a block count as the same block.
  auto block = [&](std::uint32_t i) {
    const BlockEntry& entry = requests[i].object.block->entry;
    return std::tuple(&requests[i].source->file(),
                      entry.extent_position != 0 ? entry.extent_position : entry.position,
                      entry.position);
  };
  std::vector<std::uint32_t> order(requests.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, block);
  ScatterWindow window(targets);
  for (auto first = order.begin(); first != order.end();) {
    const auto end = std::find_if(first, order.end(),
                                  [&](std::uint32_t i) { return block(i) != block(*first); });
    const ExtentSource& source = *requests[*first].source;
    const std::span<const std::uint32_t> numbers(first, end);
    std::vector<RunCursor> cursors;
    cursors.reserve(numbers.size());
    for (const std::uint32_t i : numbers) cursors.emplace_back(requests[i].shape, requests[i].slab);
    NMB_TRY(merge_runs(cursors,
                       [&](std::size_t i, std::uint64_t offset, std::uint64_t element,
                           std::uint64_t elements) -> Status {
                         const std::uint64_t size = cursors[i].element_size();
                         window.add(source, numbers[i], offset, element * size, elements * size);
                         return {};
                       }));
    first = end;
  }
  window.flush();
  std::vector<Status> own(requests.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    const Object& object = requests[i].object;
    own[i] = targets[i].status.ok() ? range_status(object.block->metadata.variable(object.variable),
                                                   targets[i].out_of_range)
                                    : targets[i].status;
  }
  if (!statuses.empty()) std::ranges::copy(own, statuses.begin());
  return first_failure(own);
}

}  // namespace nmb
