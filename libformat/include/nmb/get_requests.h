// GetRequests: many hyperslabs read together, with few reads of the file where they lie near each
// other (spec/rationale.md, "Requests").
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "nmb/reader.h"
#include "nmb/request.h"
#include "nmb/status.h"
#include "nmb/values.h"

namespace nmb {

// Requests of any objects of any readers:
//   GetRequests requests;
//   std::vector<RequestId> ids;
//   for (Field& field : fields) {
//     NMB_ASSIGN(RequestId id, requests.iget(field.object, field.slab, std::span(field.values)));
//     ids.push_back(id);
//   }
//   NMB_TRY(requests.wait(ids));
// Used by one thread at a time; each may have its own. Those that are open at its end are
// forgotten.
class GetRequests {
 public:
  NMB_EXPORT GetRequests();
  NMB_EXPORT ~GetRequests();

  // As Dataset::read, but `out` (element_count(slab) values) is filled when the request is waited
  // for; until then it must stay. Checked at once: kUsage, also an object that no Reader gave.
  NMB_EXPORT Result<RequestId> iget(const Object& object, const Hyperslab& slab, MemoryType type,
                                    void* out);
  template <class T>
  Result<RequestId> iget(const Object& object, const Hyperslab& slab, std::span<T> out) {
    NMB_TRY(check_count(slab, out.size()));
    return iget(object, slab, memory_type_of<T>(), out.data());
  }
  // Fills the arrays of requests, which then are open no more. Each read of the file takes at most
  // 1 MiB (with ReadOptions::verify_values a piece, if that is more). statuses: none, or as many as
  // requests: what Dataset::read would have said of each; a read that fails (kIo) is a failure of
  // all requests that it was for. Returns the first failure of them. Memory: 3 MiB, and what grows
  // with the number of requests. kUsage, and nothing is done: IDs that are not of open requests.
  NMB_EXPORT Status wait(std::span<const RequestId> requests, std::span<Status> statuses = {});
  // Requests that were not waited for.
  NMB_EXPORT std::size_t open() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nmb
