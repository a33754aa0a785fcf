// Reads several hyperslabs together (see reader/file_reader.h).
#include <utility>
#include <vector>

#include "reader/file_reader.h"
#include "reader/joint_get.h"
#include "values/open_requests.h"

namespace nmb {

struct GetRequests::State {
  struct Request {
    std::shared_ptr<const LoadedBlock> keep;
    JointGet get;
  };
  OpenRequests<Request> requests;
};

GetRequests::GetRequests() : state_(std::make_unique<State>()) {}
GetRequests::~GetRequests() = default;

std::size_t GetRequests::open() const { return state_->requests.size(); }

Result<RequestId> GetRequests::iget(const Object& object, const Hyperslab& slab, MutableArray out) {
  NMB_ASSIGN(JointGet get, JointGet::of(*object.block, object.variable, &slab, out));
  return state_->requests.add({object.block, std::move(get)});
}

Status GetRequests::wait(std::span<const RequestId> ids, std::span<Status> statuses) {
  NMB_ASSIGN(const std::vector<State::Request> requests,
             state_->requests.take(ids, statuses.size()));
  std::vector<JointGet> gets;
  gets.reserve(requests.size());
  for (const State::Request& request : requests) gets.push_back(request.get);
  std::vector<Status> own(requests.size());
  NMB_TRY(get_jointly(gets, own, 1));
  if (!statuses.empty()) std::ranges::copy(own, statuses.begin());
  return first_failure(own);
}

}  // namespace nmb
