// OpenRequests: the requests for which the caller has not waited yet.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/values.h"
#include "wire/failure.h"
#include "wire/joined_text.h"

namespace nmb {

template <class Request>
class OpenRequests {
 public:
  std::size_t size() const { return requests_.size(); }
  RequestId add(Request request) {
    const RequestId id = next_id();
    requests_.emplace(id, std::move(request));
    return id;
  }
  // Removes the requests with these IDs and returns them in the same order. Errors: kUsage, with
  // all requests still open, if an ID occurs twice or belongs to no open request, or if `statuses`
  // is neither 0 nor the number of IDs.
  Result<std::vector<Request>> take(std::span<const RequestId> ids, std::size_t statuses) {
    NMB_TRY(check(ids, statuses));
    std::vector<Request> taken;
    taken.reserve(ids.size());
    for (RequestId id : ids) taken.push_back(std::move(requests_.extract(id).mapped()));
    return taken;
  }
  // Fails as take() does, and removes nothing.
  Status check(std::span<const RequestId> ids, std::size_t statuses) const {
    if (statuses != 0 && statuses != ids.size())
      return failure(Code::kUsage, "found an array for ", statuses, " statuses, expected 0 or ",
                     ids.size());
    std::vector<RequestId> sorted(ids.begin(), ids.end());
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const bool twice = i > 0 && sorted[i] == sorted[i - 1];
      if (twice || !requests_.contains(sorted[i]))
        return failure(Code::kUsage, "found request ID ", sorted[i], twice ? " twice" : "",
                       ", expected IDs of open requests");
    }
    return {};
  }

 private:
  // IDs count from 1. All requests of the process have different IDs, so that a request of one
  // writer is unknown to every other.
  static RequestId next_id() {
    static std::atomic<RequestId> last{0};
    return ++last;
  }
  std::map<RequestId, Request> requests_;
};

// Returns the result of a wait: the first error in the order of the requests.
inline Status first_failure(std::span<const Status> statuses) {
  for (const Status& status : statuses)
    if (!status.ok()) return status;
  return {};
}

}  // namespace nmb
