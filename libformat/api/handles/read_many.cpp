// Reads many hyperslabs with few reads of the file (see nmb/reader.h).
#include <algorithm>
#include <atomic>
#include <utility>

#include "handles/handle_parts.h"
#include "handles/reader_state.h"
#include "nmb/reader.h"
#include "parallel/workers.h"
#include "reader/joint_get.h"
#include "values/open_requests.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

MemoryType memory_type_for(Type type) {
  constexpr MemoryType types[] = {MemoryType::kInt8,   MemoryType::kInt8,  MemoryType::kText,
                                  MemoryType::kInt16,  MemoryType::kInt32, MemoryType::kFloat,
                                  MemoryType::kDouble, MemoryType::kUInt8, MemoryType::kUInt16,
                                  MemoryType::kUInt32, MemoryType::kInt64, MemoryType::kUInt64};
  return types[static_cast<std::size_t>(type)];
}

// The forms of a request that differ in the type of the caller's memory.
Result<JointGet> joint(const ReadRequest& request, const LoadedBlock& block, VarId variable) {
  return JointGet::of(block, variable, &request.slab, request.out);
}
Status alone(const ReadRequest& request) { return request.var.try_read(request.slab, request.out); }

Result<JointGet> joint(const ElementRequest& request, const LoadedBlock& block, VarId variable) {
  const Type type = block.metadata.variable(variable).type;
  if (block.metadata.extension() || !is_type(static_cast<std::uint32_t>(type)))
    return Status(Code::kUnsupported, "a block of kind 6");
  if (request.out.size() % type_size(type) != 0)
    return failure(Code::kUsage, "found room for ", request.out.size(),
                   " bytes, expected elements of ", type_size(type), " bytes");
  return JointGet::of(block, variable, request.slab.count.empty() ? nullptr : &request.slab,
                      MutableArray(memory_type_for(type), request.out));
}
Status alone(const ElementRequest& request) {
  if (!request.slab.count.empty())
    return request.var.try_read_elements(request.slab, request.out, request.heap);
  NMB_ASSIGN(std::vector<std::uint64_t> shape, request.var.try_shape());
  Hyperslab whole;
  whole.start.assign(shape.size(), 0);
  whole.count = std::move(shape);
  return request.var.try_read_elements(whole, request.out, request.heap);
}

template <class Request>
Status read_requests(std::span<const Request> requests, std::span<Status> statuses,
                     unsigned threads) {
  if (!statuses.empty() && statuses.size() != requests.size())
    return failure(Code::kUsage, "found ", statuses.size(), " statuses for ", requests.size(),
                   " requests");
  std::vector<Status> found(requests.size());
  std::vector<JointGet> gets;
  std::vector<std::size_t> joint_numbers, others;
  gets.reserve(requests.size());
  joint_numbers.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const VarView& var = requests[i].var;
    const auto& file = ReaderState::file_of(var);
    if (found[i] = check_handle(file); !found[i].ok()) continue;
    if (!file->file.reader()) {
      others.push_back(i);
      continue;
    }
    // The datasets of an NMB file are loaded blocks.
    const auto& block = static_cast<const LoadedBlock&>(*ReaderState::dataset_of(var));
    Result<JointGet> get = joint(requests[i], block, ReaderState::id_of(var));
    if (get.ok()) {
      gets.push_back(*std::move(get));
      joint_numbers.push_back(i);
    } else if (get.status().code() == Code::kUnsupported) {
      others.push_back(i);
    } else {
      found[i] = get.status();
    }
  }
  std::vector<Status> joint_statuses(gets.size());
  if (!gets.empty()) NMB_TRY(get_jointly(gets, joint_statuses, threads));
  for (std::size_t i = 0; i < gets.size(); ++i)
    found[joint_numbers[i]] = std::move(joint_statuses[i]);
  std::atomic<std::size_t> next{0};
  NMB_TRY(share_work(std::min<std::size_t>(std::max(threads, 1u), others.size()),
                     [&](const std::atomic<bool>& stop) -> Status {
                       for (std::size_t i; (i = next++) < others.size() && !stop;)
                         found[others[i]] = alone(requests[others[i]]);
                       return {};
                     }));
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (const auto& file = ReaderState::file_of(requests[i].var))
      found[i] = found[i].in_file(file->path());
  Status first = first_failure(found);
  if (!statuses.empty()) std::ranges::move(found, statuses.begin());
  return first;
}

}  // namespace

Status Reader::try_read_many(std::span<const ReadRequest> requests, std::span<Status> statuses,
                             unsigned threads) const {
  NMB_TRY(check_handle(state_));
  return read_requests(requests, statuses, threads);
}

Status Reader::try_read_elements(std::span<const ElementRequest> requests,
                                 std::span<Status> statuses, unsigned threads) const {
  NMB_TRY(check_handle(state_));
  return read_requests(requests, statuses, threads);
}

}  // namespace nmb
