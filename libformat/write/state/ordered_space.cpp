// If there are many requests, some or all ranks are owners: each owns a range of order numbers, and
// sorts the requests for the blocks in this range. A scan over the owners computes the position
// where the space of each range begins. Otherwise each rank sorts all requests.
#include "state/ordered_space.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "origins/placement.h"
#include "parallel/outbox.h"
#include "wire/checked.h"

namespace nmb {

namespace {

// A summary of the requests of all ranks.
struct Demand {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max(), most = 0;  // order numbers
  std::uint64_t count = 0;                                                    // number of requests
  std::uint64_t cursor = 0;  // where free space begins; known to rank 0
};

// Divides the order numbers into equal ranges, one for each owner. All requests with the same order
// number come from one rank.
class Owners {
 public:
  Owners(const Demand& all, int ranks) : least_(all.least), ranks_(ranks) {
    // An additional owner is worthwhile only if there are at least this many requests for it.
    constexpr std::uint64_t kLeast = 64;
    owners_ = std::clamp<std::uint64_t>(all.count / kLeast, 1, static_cast<std::uint64_t>(ranks));
    width_ = (all.most - all.least) / owners_ + 1;
  }
  // Returns the rank that owns an order number. The owner of a higher order number is the same rank
  // or a higher rank.
  int of(std::uint64_t order) const {
    return static_cast<int>((order - least_) / width_ * static_cast<std::uint64_t>(ranks_) /
                            owners_);
  }

 private:
  std::uint64_t least_, owners_, width_;
  int ranks_;
};

// The placement of an owner's requests, in ascending order: `as_first` if no requests of other
// owners precede them, else `as_later`.
struct OwnerPlacement {
  bool any = false;
  Placement as_first, as_later;

  OwnerPlacement then(const OwnerPlacement& next) const {
    if (!any) return next;
    if (!next.any) return *this;
    return {true, as_first.then(next.as_later), as_later.then(next.as_later)};
  }
};

bool continues(const OrderedRequest& request, std::uint64_t at) {
  return request.tail != 0 && round_up(request.tail, 8) == at;
}

struct SentRequest {
  int from;
  OrderedRequest request;
  std::uint64_t position = 0;
};

OwnerPlacement placement_of(const std::vector<SentRequest*>& by_order, std::uint64_t cursor) {
  OwnerPlacement all;
  for (const SentRequest* asked : by_order) {
    const OrderedRequest& request = asked->request;
    if (request.length == 0) continue;
    OwnerPlacement one{true, Placement::of(request.length, request.alignment), {}};
    one.as_later = one.as_first;
    if (continues(request, cursor)) {
      // The request begins in the padding before the cursor, so it needs less free space.
      const std::uint64_t ahead = cursor - request.tail;
      one.as_first = Placement::of(request.length > ahead ? request.length - ahead : 0, 8);
    }
    all = all.then(one);
  }
  return all;
}

std::vector<SentRequest*> in_order(std::vector<SentRequest>& asked) {
  std::vector<SentRequest*> by_order;
  for (SentRequest& one : asked) by_order.push_back(&one);
  std::ranges::stable_sort(by_order, {}, [](const SentRequest* one) { return one->request.order; });
  return by_order;
}

// Sets the positions of requests, of which the first begins at `at` or later. cursor: where free
// space began before all requests.
void set_positions(const std::vector<SentRequest*>& by_order, std::uint64_t at,
                   std::uint64_t cursor) {
  for (SentRequest* one : by_order) {
    const OrderedRequest& request = one->request;
    one->position =
        at == cursor && continues(request, at) ? request.tail : round_up(at, request.alignment);
    // A request of length 0 takes no space.
    if (request.length > 0) at = round_up(one->position + request.length, 8);
  }
}

Status check_end(std::uint64_t end) {
  if (end < Placement::kLimit) return {};
  return Status(Code::kLimit, "values would end after byte 2^62 of the file");
}

// Lets all ranks learn all requests, which are few. Collective.
Result<std::vector<std::uint64_t>> take_space_of_few(Communicator& ranks,
                                                     std::span<const OrderedRequest> requests,
                                                     std::uint64_t* cursor) {
  std::vector<SentRequest> asked;
  for (const OrderedRequest& request : requests) asked.push_back({ranks.rank(), request});
  NMB_ASSIGN(const std::string all,
             ranks.all_reduce(std::string(reinterpret_cast<const char*>(asked.data()),
                                          asked.size() * sizeof(SentRequest)),
                              std::plus<>()));
  asked.resize(all.size() / sizeof(SentRequest));
  std::memcpy(asked.data(), all.data(), all.size());
  const std::vector<SentRequest*> by_order = in_order(asked);
  const std::uint64_t end = placement_of(by_order, *cursor).as_first.end(*cursor);
  NMB_TRY(check_end(end));
  set_positions(by_order, OwnerPlacement().as_first.end(*cursor), *cursor);
  *cursor = end;
  std::vector<std::uint64_t> positions;
  for (const SentRequest& one : asked)
    if (one.from == ranks.rank()) positions.push_back(one.position);
  return positions;
}

}  // namespace

Result<std::vector<std::uint64_t>> take_ordered_space(Communicator& ranks,
                                                      std::span<const OrderedRequest> requests,
                                                      std::uint64_t* cursor, const Status& so_far) {
  constexpr std::uint64_t kFew = 1024;
  Demand mine;
  mine.count = requests.size();
  mine.cursor = *cursor;
  for (const OrderedRequest& request : requests) {
    mine.least = std::min(mine.least, request.order);
    mine.most = std::max(mine.most, request.order);
  }
  NMB_ASSIGN(const Demand all,
             ranks.agree_and_reduce(so_far, mine, [](const Demand& a, const Demand& b) {
               return Demand{std::min(a.least, b.least), std::max(a.most, b.most),
                             a.count + b.count, a.cursor};
             }));
  *cursor = all.cursor;
  if (all.count == 0) return std::vector<std::uint64_t>();
  if (all.count <= kFew) return take_space_of_few(ranks, requests, cursor);

  const Owners owners(all, ranks.size());
  Outbox<OrderedRequest> sent;
  for (const OrderedRequest& request : requests) sent.add(owners.of(request.order), request);
  NMB_ASSIGN(const Inbox<OrderedRequest> arrived, exchange(ranks, sent));
  std::vector<SentRequest> asked;
  asked.reserve(arrived.size());
  for (const auto& [from, request] : arrived) asked.push_back({from, request});
  const std::vector<SentRequest*> by_order = in_order(asked);

  const OwnerPlacement own = placement_of(by_order, *cursor);
  NMB_ASSIGN(const OwnerPlacement before,
             ranks.scan_before(
                 own, OwnerPlacement(),
                 [](const OwnerPlacement& a, const OwnerPlacement& b) { return a.then(b); }));
  NMB_ASSIGN(const OwnerPlacement whole, ranks.broadcast_value(ranks.size() - 1, before.then(own)));
  const std::uint64_t end = whole.as_first.end(*cursor);
  NMB_TRY(check_end(end));
  set_positions(by_order, before.as_first.end(*cursor), *cursor);
  *cursor = end;

  // An owner sends its answers to a rank in the order in which this rank sent the requests.
  Outbox<std::uint64_t> replies;
  for (const SentRequest& one : asked) replies.add(one.from, one.position);
  NMB_ASSIGN(const Inbox<std::uint64_t> answers, exchange(ranks, replies));
  std::map<int, Inbox<std::uint64_t>::Iterator> next_of;
  for (auto answer = answers.begin(); answer != answers.end(); ++answer)
    next_of.try_emplace(answer->from, answer);
  std::vector<std::uint64_t> positions;
  positions.reserve(requests.size());
  for (const OrderedRequest& request : requests)
    positions.push_back((next_of.at(owners.of(request.order))++)->what);
  return positions;
}

}  // namespace nmb
