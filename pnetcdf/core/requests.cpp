#include "requests.h"

#include <algorithm>
#include <utility>

namespace nmb::pnetcdf {

Request& RequestList::add(Request request) {
  Queue& queue = request.is_put ? puts_ : gets_;
  // As in PnetCDF, IDs begin again when nothing is pending.
  if (queue.live == 0) {
    queue.all.clear();
    queue.first_id = queue.next_id = request.is_put ? 0 : 1;
  }
  request.id = queue.next_id;
  queue.next_id += 2;
  ++queue.live;
  queue.all.push_back(std::make_unique<Request>(std::move(request)));
  return *queue.all.back();
}

std::unique_ptr<Request> RequestList::take(int id) {
  Queue& queue = id % 2 == 0 ? puts_ : gets_;
  if (id < queue.first_id) return nullptr;
  const auto index = static_cast<std::size_t>(id - queue.first_id) / 2;
  if (index >= queue.all.size() || !queue.all[index]) return nullptr;
  std::unique_ptr<Request> taken = std::move(queue.all[index]);
  --queue.live;
  while (!queue.all.empty() && !queue.all.front()) {
    queue.all.pop_front();
    queue.first_id += 2;
  }
  return taken;
}

std::vector<std::unique_ptr<Request>> RequestList::take_all(bool puts) {
  Queue& queue = puts ? puts_ : gets_;
  std::vector<std::unique_ptr<Request>> all;
  all.reserve(queue.live);
  for (std::unique_ptr<Request>& request : queue.all)
    if (request) all.push_back(std::move(request));
  queue.all.clear();
  queue.live = 0;
  return all;
}

bool RequestList::has_buffered() const {
  return std::ranges::any_of(puts_.all, [](const std::unique_ptr<Request>& request) {
    return request && request->buffered >= 0;
  });
}

}  // namespace nmb::pnetcdf
